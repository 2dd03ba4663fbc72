// Bringing down everything a command started: INT, TERM, KILL, each with a grace,
// until no process is left.
//
// A passive state machine: it never sleeps. The owner calls step() when
// next_step() is due, and sooner whenever a child ended. Each step collects who
// ended, lists who is alive, and sends the current rung's signal to all that have
// not had it yet, so that processes born meanwhile get it too. At KILL it goes on
// until a scan finds no process; processes that cannot be killed are listed.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "base/result.h"
#include "pty/process_tree.h"

namespace ttyward::pty {

struct KillRung {
  int signal = 0;
  std::chrono::milliseconds grace{0};  // until the next rung; of the last: until we give up
};

// INT lets a program clean up as for Ctrl-C, TERM asks all others. After KILL the
// kernel needs no grace; the time is for processes in uninterruptible sleep.
std::vector<KillRung> default_kill_rungs();

// What the ladder does to the world; tests replace it.
struct KillActions {
  std::function<std::optional<std::vector<ProcessInfo>>()> list;  // everything that may have to go
  std::function<std::string(pid_t)> command_line;                 // for those named at the end
  std::function<base::Result<void>(const ProcessId&, int signal)> signal;
  std::function<void(const ProcessId& leader, int signal)> signal_group;
  std::function<void()> reap;
  // True if the kernel confirms that no process is left; nullopt if it cannot tell.
  std::function<std::optional<bool>()> proof;

  // For everything below this process; `owned` outlives the ladder.
  static KillActions below_this_process(const std::vector<Child*>& owned);
  // For a command that shares this process with others: only what descends from
  // it now. What it orphaned before is not found this way.
  static KillActions below(pid_t leader, const std::vector<Child*>& owned);
};

class KillLadder {
 public:
  using Clock = std::chrono::steady_clock;

  enum class Outcome : uint8_t {
    Working,
    NothingLeft,  // apart from those to keep
    Survivors,    // some could not be ended; survivors() names them
    Unknown,      // /proc cannot be read: signals went to nobody we could not see
  };

  // `keep` and what they started are left alone and listed in kept().
  KillLadder(KillActions actions, std::vector<KillRung> rungs, std::vector<ProcessId> keep,
             Clock::time_point now);

  Outcome step(Clock::time_point now);
  Outcome outcome() const { return outcome_; }
  // When step() is due even if nothing happens; meaningless once it is over.
  Clock::time_point next_step() const { return next_step_; }
  int current_signal() const { return rungs_[rung_].signal; }

  const std::vector<ProcessInfo>& kept() const { return kept_; }
  const std::vector<ProcessInfo>& survivors() const { return alive_; }

 private:
  bool look();
  bool nobody_left();
  void signal_newcomers();
  void signal_groups();
  void climb(Clock::time_point now);
  Outcome finish(Outcome outcome);

  KillActions actions_;
  std::vector<KillRung> rungs_;
  std::set<ProcessId> keep_;

  size_t rung_ = 0;
  Clock::time_point rung_ends_;
  Clock::time_point next_step_;
  std::chrono::milliseconds pause_;
  Outcome outcome_ = Outcome::Working;
  std::set<ProcessId> signaled_;  // on this rung
  int empty_looks_ = 0;           // in a row
  std::vector<ProcessInfo> alive_;
  std::vector<ProcessInfo> kept_;
};

}  // namespace ttyward::pty
