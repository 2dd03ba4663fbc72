// Where a command's output comes from and its input goes to: the holder of the command.
//
// There are two kinds today, a holder in this process (own_holder.h) and a ttyward-hold
// process behind its socket (holder_process.h); one on another machine would be the
// third. They differ only in how long an answer takes, so every question is answered
// through a callback: before the call returns, or from a later turn of the owner's loop.
//
// The bytes themselves are in the command's journal. A source only says that there are
// more of them, and how the command ended.
//
// Passive: it registers with the poller it was made with; the owner calls turn() after
// each wait and waits no longer than deadline(). Thread rule: one thread.
#pragma once

#include <sys/types.h>

#include <chrono>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "hold/holder.h"
#include "hold/protocol.h"
#include "journal/format.h"
#include "place/local.h"
#include "pty/kill_ladder.h"
#include "pty/pseudo_terminal.h"
#include "pty/run_state.h"

namespace ttyward::command {

class Source {
 public:
  using TimePoint = std::chrono::steady_clock::time_point;

  class Observer {
   public:
    virtual void on_output(uint64_t end) = 0;
    // The journal is full, and nobody reads the command until it is granted more room.
    virtual void on_paused() = 0;
    // All that the command itself printed is in the journal.
    virtual void on_exited(const journal::ExitRecord& record) = 0;
    // Nothing of the command is left.
    virtual void on_closed() = 0;
    // Of a command in another place: the link to it was lost, or is there again. It runs on meanwhile.
    virtual void on_link(const hold::LinkMessage& link) { (void)link; }
    // The same: how it ended will never be known. on_gone() follows.
    virtual void on_lost(const std::string& why) { (void)why; }
    // The last call: there is nobody to ask any more. The source may be destroyed from within it.
    virtual void on_gone() = 0;

   protected:
    ~Observer() = default;
  };
  using Done = std::function<void(base::Result<void>)>;
  using Target = hold::Holder::Target;
  struct Process {
    pid_t pid = 0;
    pid_t parent = 0;
    std::string command;
  };
  using Processes = std::function<void(base::Result<std::vector<Process>>)>;
  using RunStates = std::function<void(base::Result<pty::RunState>)>;

  virtual ~Source() = default;

  virtual void turn(TimePoint now) = 0;
  virtual std::optional<TimePoint> deadline() const = 0;

  virtual void input(std::string_view bytes, Done done = {}) = 0;
  virtual void close_input(Done done = {}) = 0;
  virtual void resize(const pty::WindowSize& size, Done done = {}) = 0;
  virtual void signal(int number, Target target, Done done = {}) = 0;
  virtual void interrupt(Done done = {}) = 0;
  // Brings down the command and all it started. Without rungs, the usual ones.
  virtual void terminate(const std::vector<pty::KillRung>& rungs, Done done = {}) = 0;
  // A full journal gets so many bytes more, and reading goes on.
  virtual void grant(uint64_t bytes, Done done = {}) = 0;
  // The owner has read up to `offset`: on_output() is called, once, when there is something beyond it.
  virtual void watch(uint64_t offset) = 0;
  // Input it has taken and not passed on.
  virtual size_t input_waiting() const = 0;

  // What the command is doing now. `screen` is what the owner's emulator knows.
  virtual void run_state(pty::AlternateScreen screen, RunStates done) = 0;
  // Living processes of the command, itself among them.
  virtual void processes(Processes done) = 0;
  // Where it runs: what else is asked about those processes is asked there.
  virtual const place::Place& place() const { return place::local(); }
};

}  // namespace ttyward::command
