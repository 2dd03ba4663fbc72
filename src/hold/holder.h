// One command and its journal: the core of the holder process, and of a command
// that runs inside another program.
//
// Flow at a glance
//   master / stdout / stderr ready → drained to EAGAIN into the journal, 64 KiB at a time
//   pidfd ready                    → exit known; output is drained a little longer,
//                                    then the exit is recorded and reported
//   everything it started gone     → journal closed, closed() is true
//
// Passive: it registers with a Poller and never blocks. The owner waits on the
// poller, calls turn() after each wait, and waits no longer than deadline().
// Thread rule: one thread.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "base/result.h"
#include "base/unique_fd.h"
#include "io/poller.h"
#include "journal/blank.h"
#include "journal/folder.h"
#include "journal/writer.h"
#include "pty/input.h"
#include "pty/kill_ladder.h"
#include "pty/process_tree.h"
#include "pty/pseudo_terminal.h"
#include "pty/run_state.h"
#include "pty/spawn.h"

namespace ttyward::hold {

// How long output is read after the command ended while another process still has
// it open. What the command itself printed is in the kernel's buffer by then.
inline constexpr std::chrono::milliseconds kDefaultDrainTime{200};

enum class Survivors : uint8_t { Keep, Kill };  // what the command left behind when it ends
enum class NoPty : uint8_t { Fail, UsePipes };
// A process of its own is the reaper of all orphans below it and owns every
// child: there can be one such holder in a process. In a shared one only what descends from the command can
// be found.
enum class Scope : uint8_t { OwnProcess, SharedProcess };

struct HoldSpec {
  pty::SpawnSpec spawn;
  NoPty no_pty = NoPty::UsePipes;
  journal::WriterOptions journal;  // provider and size are taken from `spawn`
  std::chrono::milliseconds drain_time = kDefaultDrainTime;
  Survivors survivors = Survivors::Keep;
};

// What can be made before it is known what to hold. Each part is optional.
struct Prepared {
  std::optional<journal::Blank> journal;
  std::optional<pty::PseudoTerminal> terminal;  // of the default size
};

// Told at the end of a turn; several things may have happened since the last.
class HolderObserver {
 public:
  virtual void on_output(uint64_t end) = 0;
  virtual void on_paused() = 0;
  virtual void on_exit(const journal::ExitRecord& record) = 0;
  virtual void on_closed(journal::OutputEnd end) = 0;

 protected:
  ~HolderObserver() = default;
};

class Holder final : public io::Poller::Handler {
 public:
  using Clock = std::chrono::steady_clock;
  using Started = tl::expected<std::unique_ptr<Holder>, pty::SpawnError>;

  // A running command, or why there is none; then there is no journal either.
  // Scope::OwnProcess blocks SIGCHLD and makes this process a subreaper.
  static Started start(io::Poller& poller, const std::shared_ptr<journal::Folder>& folder, HoldSpec spec,
                       Scope scope, Prepared prepared = {});
  Holder(const Holder&) = delete;
  Holder& operator=(const Holder&) = delete;
  ~Holder();

  void set_observer(HolderObserver* observer) { observer_ = observer; }

  // After every Poller::wait.
  void turn(Clock::time_point now);
  std::optional<Clock::time_point> deadline() const;

  base::Result<void> send_input(std::span<const std::byte> bytes);
  // No more input: closes the pipe, or types the end-of-file character.
  base::Result<void> close_input();
  base::Result<void> resize(const pty::WindowSize& size);
  enum class Target : uint8_t { Leader = 0, Foreground = 1, Everything = 2 };
  base::Result<void> signal(int number, Target target);
  // Interrupts what is in the foreground, in any mode of the terminal, and forgets
  // input that was not read yet.
  base::Result<void> interrupt();
  // Brings down the command and all it started. Idempotent.
  void terminate(std::vector<pty::KillRung> rungs, journal::EndReason reason, Clock::time_point now);
  // A journal that is full gets more room, and reading goes on.
  void grant(uint64_t bytes);
  // A follower has read up to here: nothing after that is dropped before it was read, and the
  // command waits if necessary. Nullopt: there is no follower.
  void follow(std::optional<uint64_t> read_to);

  const journal::Writer& journal() const { return writer_; }
  pty::Provider provider() const { return provider_; }
  const std::string& fallback_reason() const { return fallback_reason_; }
  pid_t child_pid() const { return child_.pid(); }
  int master() const { return provider_ == pty::Provider::Pty ? sources_.front().fd.get() : -1; }
  const std::string& slave_path() const { return slave_path_; }
  dev_t slave_device() const { return slave_device_; }
  const pty::Child& child() const { return child_; }
  bool paused() const { return paused_; }
  size_t input_waiting() const { return input_.size(); }
  const std::optional<journal::ExitRecord>& exit() const { return exit_; }
  bool closed() const { return closed_.has_value(); }
  std::optional<journal::OutputEnd> output_end() const { return closed_; }
  // Living processes below the command (all below this process, in its own).
  std::vector<pty::ProcessInfo> processes() const;
  // What it is doing at this moment, from the kernel. `screen` is what the
  // emulator of the caller knows.
  pty::RunState run_state(pty::AlternateScreen screen) const;

 private:
  struct Source {
    enum class State : uint8_t { Open, HungUp, Ended };
    base::UniqueFd fd;
    journal::Stream stream = journal::Stream::Terminal;
    State state = State::Open;
    bool widened = false;  // its pipe was enlarged
    bool dry = false;      // the last read has found all there was
  };

  Holder(io::Poller& poller, journal::Writer writer, pty::Spawned spawned, const HoldSpec& spec, Scope scope,
         Clock::time_point now);
  base::Result<void> watch();
  void on_ready(int fd, uint32_t events) override;

  // holder_output.cc
  void drain(Source& source);
  ssize_t read_some(Source& source);
  ssize_t gather(Source& source);
  void end_source(Source& source, journal::OutputEnd how);
  void arm(Source& source);
  void stop_reading();
  void resume_reading();
  void handle_full();
  void look_for_room(Clock::time_point now);
  void read_on();
  bool all_ended() const;

  // holder_input.cc
  void flush_input();
  journal::Writer::Echo before_input();
  int input_fd() const;

  // holder_end.cc
  void note_exit(Clock::time_point now);
  void settle();
  void try_close(Clock::time_point now);
  void step_ladder(Clock::time_point now);
  void reap();
  bool alone() const;
  bool child_over() const { return child_over_ || child_.exit().has_value(); }
  void tell();

  // Constant after construction.
  io::Poller& poller_;
  Scope scope_;
  pty::Provider provider_;
  std::string fallback_reason_;
  std::string slave_path_;
  dev_t slave_device_ = 0;
  std::chrono::milliseconds drain_time_;
  Survivors survivors_;
  Clock::time_point started_;
  base::UniqueFd child_signals_;  // signalfd for SIGCHLD, in a process of our own

  journal::Writer writer_;
  pty::Child child_;
  std::shared_ptr<sandbox::Confinement> confinement_;
  std::vector<Source> sources_;            // the master; or stdout and stderr
  std::unique_ptr<std::byte[]> gathered_;  // from the master, on its way into the journal
  size_t left_over_ = 0;                   // of it, while the journal is full
  base::UniqueFd stdin_;
  pty::InputQueue input_;
  bool input_closed_ = false;
  bool paused_ = false;
  bool behind_ = false;                             // not reading until those who follow have caught up
  std::optional<Clock::time_point> look_for_room_;  // while paused: when the disk is asked again
  bool overdrawn_ = false;                          // the last bytes were let in beyond the quota
  bool children_changed_ = false;
  bool child_over_ = false;
  journal::OutputEnd output_end_ = journal::OutputEnd::Eof;
  journal::EndReason reason_ = journal::EndReason::Itself;
  std::optional<pty::KillLadder> ladder_;

  std::optional<Clock::time_point> exited_at_;
  std::optional<Clock::time_point> drain_until_;
  std::optional<journal::ExitRecord> exit_;
  std::optional<journal::OutputEnd> closed_;

  HolderObserver* observer_ = nullptr;
  uint64_t told_end_ = 0;
  bool told_paused_ = false;
  bool told_exit_ = false;
  bool told_closed_ = false;
};

}  // namespace ttyward::hold
