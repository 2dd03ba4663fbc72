// One command from start to result, driven by the owner's own loop.
//
// Flow at a glance
//   start()  a holder for it (in this process, or a ttyward-hold), its journal, its CommandLife
//   step()   what the holder wrote to the journal is read back, fed to the Output and shown to the
//            observer; the life is told, and what it asks for is done
//   done()   the result can be taken; settled() nothing is left to clean up
//
// This class moves bytes and messages. Whatever depends on time, or on how the command
// ended, CommandLife decides.
//
// Passive: the owner waits on the Poller no longer than deadline() and calls
// step() after each wait. Thread rule: one thread.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/result.h"
#include "command/command_life.h"
#include "command/holder_process.h"
#include "command/pipe_report.h"
#include "command/source.h"
#include "hold/holder.h"
#include "io/poller.h"
#include "journal/reader.h"
#include "terminal/output.h"
#include "terminal/output_view.h"
#include "terminal/result.h"

namespace ttyward::command {

enum class Replies : uint8_t {
  Engine,  // the screen answers what programs ask a terminal
  Viewer,  // a real terminal is shown the same bytes and answers itself
};

// For a command that may outlive this process.
struct HolderPlace {
  std::string program;  // path of ttyward-hold
  std::string sockets;  // folder
  // In another place: a connection to the link, on which it is launched there.
  std::function<base::Result<base::UniqueFd>()> launch_on;
  const place::Place* place = nullptr;  // which; it outlives the command
  io::Poller* answers = nullptr;        // on which its answers come
  // The link was ended: starts it again.
  std::function<base::Result<void>()> revive;
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
  std::optional<HolderPlace> holder;  // none: this process holds it
  std::chrono::milliseconds drain_time = hold::kDefaultDrainTime;
  terminal::ViewLimits view;
  Replies replies = Replies::Engine;
  journal::Overflow overflow = journal::Overflow::DropMiddle;
  uint64_t journal_quota = journal::kDefaultQuota;
  std::optional<terminal::SandboxReport> sandbox;  // what the result states about spawn.sandbox
};

// Live events. Called from step(); must not block.
class RunObserver {
 public:
  virtual ~RunObserver() = default;
  virtual void on_data(std::string_view bytes) { (void)bytes; }
  virtual void on_binary(uint64_t total_bytes) {
    (void)total_bytes;
  }  // when found, then at most once a second
  virtual void on_state(terminal::CommandState state) { (void)state; }
  virtual void on_link(const hold::LinkMessage& link) { (void)link; }
};

class RunningCommand final : private HolderProcess::Observer, private io::Poller::Handler {
 public:
  using Clock = std::chrono::steady_clock;
  struct StartError {
    terminal::CommandResult result;  // state failed_to_start, with the reason
    base::Error error;
  };
  using Started = tl::expected<std::unique_ptr<RunningCommand>, StartError>;

  static Started start(io::Poller& poller, const std::shared_ptr<journal::Folder>& folder, RunOptions options,
                       RunObserver* observer);
  RunningCommand(const RunningCommand&) = delete;
  RunningCommand& operator=(const RunningCommand&) = delete;
  ~RunningCommand();

  void step(Clock::time_point now);
  std::optional<Clock::time_point> deadline() const;

  // Ctrl-C, as a person would. A second one, or a command that does not care, is for terminate().
  void interrupt();
  void terminate(terminal::CommandState state, std::string reason, Clock::time_point now);
  void send_input(std::string_view bytes);
  void close_input();
  void resize(const pty::WindowSize& size);

  bool done() const { return result_.has_value(); }
  bool settled() const { return closed_; }
  // Only when done().
  terminal::CommandResult& result() { return *result_; }
  const terminal::Output& output() const { return *output_; }
  pty::Provider provider() const { return provider_; }
  pid_t child_pid() const { return child_pid_; }
  const std::optional<journal::ExitRecord>& exit() const { return exit_; }
  size_t input_waiting() const { return source_ ? source_->input_waiting() : 0; }
  uint64_t journal_bytes() const;  // on disk

  // While paused the command goes on and its journal grows, but nothing is read back or shown; a result
  // is made only when reading has caught up.
  void pause_reading(bool paused) { paused_ = paused; }

  // Marks of this command's output as they arrived (batch uses them).
  std::vector<vt::Event> take_events() { return std::exchange(events_, {}); }
  // The part [begin, end) of the journal on its own: output, counts and what was lost of it go to `result`.
  void view_of_range(uint64_t begin, uint64_t end, const terminal::ViewLimits& view,
                     terminal::CommandResult& result);

 private:
  RunningCommand(RunOptions options, RunObserver* observer, Clock::time_point now);
  tl::expected<void, pty::SpawnError> start_own(io::Poller& poller,
                                                const std::shared_ptr<journal::Folder>& folder);
  tl::expected<void, pty::SpawnError> start_held(io::Poller& poller,
                                                 const std::shared_ptr<journal::Folder>& folder);
  hold::HoldSpec hold_spec() const;

  // From the source. They only note what there is to do; step() does it.
  void on_welcome(const hold::StatusMessage& status) override;
  void on_output(uint64_t end) override;
  void on_paused() override {}
  void on_exited(const journal::ExitRecord& record) override;
  void on_closed() override { closed_ = true; }
  void on_link(const hold::LinkMessage& link) override;
  void on_lost(const std::string& why) override { lost_reason_ = why; }
  void on_gone() override { gone_ = true; }
  // Answers of another place.
  void on_ready(int fd, uint32_t events) override;

  base::Result<void> connect(io::Poller& poller);
  bool connect_again(Clock::time_point now);
  void follow_source(Clock::time_point now);
  void settle_gone(Clock::time_point now);
  void read_new(Clock::time_point now);
  void feed(std::string_view bytes, uint64_t offset);
  void tell_binary(Clock::time_point now);
  void tell_state();
  void do_next(Clock::time_point now);
  void look(Clock::time_point now);
  void kill();
  void list_processes();
  void find_ports(const std::vector<Source::Process>& list);
  bool take_answers(Clock::time_point now);
  void make_result(Clock::time_point now);
  terminal::OutputOptions output_options();

  // Constant after start().
  RunOptions options_;
  std::optional<PipeReport> report_;
  RunObserver* observer_;
  pty::Provider provider_ = pty::Provider::Pty;
  pid_t child_pid_ = 0;
  std::string spill_folder_;

  CommandLife life_;
  std::unique_ptr<Source> source_;  // null: it has ended, and there is nobody to ask
  std::optional<journal::Reader> reader_;
  // The transcript's way back to what was printed.
  struct JournalBytes final : terminal::KeptBytes {
    explicit JournalBytes(std::optional<journal::Reader>& from) : reader(from) {}
    bool read(uint64_t offset, std::span<char> into) override;
    std::optional<journal::Reader>& reader;
  } kept_{reader_};
  std::unique_ptr<terminal::Output> output_;
  std::unique_ptr<char[]> buffer_;  // kReadBytes; pages nothing was read into cost nothing
  uint64_t read_to_ = 0;
  uint64_t lost_bytes_ = 0;
  std::vector<vt::Event> events_;

  std::optional<journal::ExitRecord> exit_;
  uint64_t exit_end_ = 0;
  bool watching_ = true;  // on_output() will be called
  bool closed_ = false;
  bool gone_ = false;
  std::optional<Clock::time_point> gone_since_;
  std::optional<Clock::time_point> ask_journal_;  // while a holder that hung up closes its journal
  std::optional<base::Result<pty::RunState>> looked_;
  std::optional<base::Result<std::vector<Source::Process>>> processes_;
  struct LeftBehind {
    std::vector<terminal::BackgroundProcess> processes;
    std::vector<terminal::OpenPort> ports;
  };
  std::optional<LeftBehind> left_;
  std::string lost_reason_;
  io::Poller* poller_ = nullptr;  // of a command in another place
  int revived_ = 0;
  bool kill_wanted_ = false;  // the holder has not been told yet
  std::shared_ptr<bool> alive_ = std::make_shared<bool>(true);
  bool paused_ = false;
  Clock::time_point last_binary_;
  bool binary_told_ = false;
  terminal::CommandState told_ = terminal::CommandState::Running;
  std::optional<terminal::CommandResult> result_;
};

}  // namespace ttyward::command
