// One command from start to result, held in this process or by a holder of its own.
//
// Flow at a glance
//   start()  journal + holder + output pipeline
//   step()   what the holder wrote to the journal is read back, fed to the Output,
//            and shown to the observer; times are checked
//   done()   the result can be taken; settled() nothing is left to clean up
//
// Times are independent of each other, each off at zero: `timeout` for the whole,
// `idle_timeout` for silence, and `input_patience` for a command that asks for input
// nobody will give. When one is over the result is there at once, with what was
// printed so far, while the kill ladder goes on; settled() tells when it is through.
//
// Passive: the owner waits on the Poller no longer than deadline() and calls
// step() after each wait. One thread.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "hold/holder.h"
#include "io/poller.h"
#include "journal/reader.h"
#include "terminal/output.h"
#include "terminal/output_view.h"
#include "terminal/result.h"
#include "terminal/running_command.h"

namespace ttyward::terminal {

enum class Replies : uint8_t {
  Engine,  // the screen answers what programs ask a terminal
  Viewer,  // a real terminal is shown the same bytes and answers itself
};

struct RunOptions {
  pty::SpawnSpec spawn;
  std::string shown_command;  // as the caller wrote it
  std::string id;             // also the journal's
  std::chrono::milliseconds timeout{60'000};
  std::chrono::milliseconds idle_timeout{300'000};
  std::chrono::milliseconds input_patience{0};
  std::vector<pty::KillRung> kill_rungs;  // empty: the usual ones
  hold::Survivors survivors = hold::Survivors::Kill;
  hold::Scope scope = hold::Scope::OwnProcess;
  std::chrono::milliseconds drain_time = hold::kDefaultDrainTime;
  ViewLimits view;
  Replies replies = Replies::Engine;
  journal::Overflow overflow = journal::Overflow::DropMiddle;
  uint64_t journal_quota = journal::kDefaultQuota;
};

// Live events. Called from step(); must not block.
class RunObserver {
 public:
  virtual ~RunObserver() = default;
  virtual void on_data(std::string_view bytes) { (void)bytes; }
  virtual void on_binary(uint64_t total_bytes) {
    (void)total_bytes;
  }  // when found, then at most once a second
  virtual void on_state(CommandState state) { (void)state; }
};

class CommandRun final {
 public:
  using Clock = std::chrono::steady_clock;
  struct StartError {
    CommandResult result;  // state failed_to_start, with the reason
    base::Error error;
  };

  static tl::expected<std::unique_ptr<CommandRun>, StartError> start(
      io::Poller& poller, const std::shared_ptr<journal::Folder>& folder, RunOptions options,
      RunObserver* observer);
  // The same for a command that may outlive this process.
  static tl::expected<std::unique_ptr<CommandRun>, StartError> start_held(
      io::Poller& poller, const std::shared_ptr<journal::Folder>& folder, const HolderPlace& place,
      RunOptions options, RunObserver* observer);
  CommandRun(const CommandRun&) = delete;
  CommandRun& operator=(const CommandRun&) = delete;
  ~CommandRun();

  void step(Clock::time_point now);
  std::optional<Clock::time_point> deadline() const;

  // Ctrl-C, as a person would. A second one, or a command that does not care, is for terminate().
  void interrupt();
  void terminate(CommandState state, std::string reason, Clock::time_point now);
  base::Result<void> send_input(std::string_view bytes);
  base::Result<void> close_input();
  base::Result<void> resize(const pty::WindowSize& size);

  bool done() const { return result_.has_value(); }
  bool settled() const { return command_->closed(); }
  // Only when done().
  CommandResult& result() { return *result_; }
  const RunningCommand& command() const { return *command_; }
  // Only of a command that start() has started.
  const hold::Holder& holder() const { return *command_->holder(); }
  const Output& output() const { return *output_; }
  // What it is doing now, from the kernel.
  pty::RunState run_state() const;
  std::vector<OpenPort> ports() const;

  // While paused the command goes on and its journal grows, but nothing is read back or shown; a result
  // is made only when reading has caught up.
  void pause_reading(bool paused) { paused_ = paused; }

  // Marks of this command's output as they arrived (batch uses them).
  std::vector<vt::Event> take_events() { return std::exchange(events_, {}); }
  // The part [begin, end) of the journal on its own: output, counts and what was lost of it go to `result`.
  void view_of_range(uint64_t begin, uint64_t end, const ViewLimits& view, CommandResult& result);

 private:
  CommandRun(RunOptions options, RunObserver* observer);
  using Launch = std::function<RunningCommand::Started(hold::HoldSpec)>;
  static tl::expected<std::unique_ptr<CommandRun>, StartError> start_with(
      const Launch& launch, const std::shared_ptr<journal::Folder>& folder, RunOptions options,
      RunObserver* observer);

  void read_new(Clock::time_point now);
  void feed(std::string_view bytes, uint64_t offset);
  void check_times(Clock::time_point now);
  void look_for_input(Clock::time_point now);
  void finish(CommandState state, Clock::time_point now);
  void fill_result(CommandResult& result, Clock::time_point now);
  OutputOptions output_options();
  static void summarize(Output& output, const ViewLimits& view, CommandResult& result);

  // Constant after construction.
  RunOptions options_;
  RunObserver* observer_;

  std::unique_ptr<RunningCommand> command_;
  std::optional<journal::Reader> reader_;
  // The transcript's way back to what was printed.
  struct JournalBytes final : KeptBytes {
    explicit JournalBytes(std::optional<journal::Reader>& from) : reader(from) {}
    bool read(uint64_t offset, std::span<char> into) override;
    std::optional<journal::Reader>& reader;
  } kept_{reader_};
  std::unique_ptr<Output> output_;
  std::unique_ptr<char[]> buffer_;  // kReadBytes; pages nothing was read into cost nothing
  std::string spill_folder_;
  uint64_t read_to_ = 0;
  uint64_t lost_bytes_ = 0;
  std::vector<vt::Event> events_;

  Clock::time_point started_;
  int64_t started_at_ms_ = 0;
  Clock::time_point last_output_;
  Clock::time_point next_look_;
  std::optional<Clock::time_point> waiting_since_;
  std::optional<WaitingFor> waiting_;
  bool interrupted_ = false;
  bool paused_ = false;
  Clock::time_point last_binary_;
  bool binary_told_ = false;
  CommandState state_ = CommandState::Running;
  std::string reason_;
  std::optional<CommandState> ending_;  // why we are ending it
  std::optional<CommandResult> result_;
};

}  // namespace ttyward::terminal
