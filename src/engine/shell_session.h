// The shell that reads a terminal's commands: which one it is, what its marks say, and
// what it has said about itself.
//
// Usually that is the shell the terminal was opened with. It may be replaced (`exec
// zsh`) or run another one inside it (`bash`, `ssh host`); such a shell prints no marks
// until it is given our hooks. While it prints none, commands are followed by sentinels.
//
//   hooked ──unmarked()──► marks lost ──integrate()──► integrating ──prompt──► hooked
//                              ▲                            │
//                              └────────── give_up() ───────┘
//
// A value: no descriptor, no clock, no timer. What is told to it live is told to it
// again by a replay, with the same effect.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "shell/command_tracker.h"
#include "shell/launch.h"

namespace ttyward::engine {

class ShellSession {
 public:
  struct Options {
    shell::ShellIdentity identity;
    shell::Quality expected = shell::Quality::None;  // of its integration
    std::string secret;                              // of the marks' nonces
    std::string cwd;
    bool piped = false;
  };
  explicit ShellSession(Options options);

  shell::CommandTracker& tracker() { return tracker_; }
  const shell::CommandTracker& tracker() const { return tracker_; }
  const shell::ShellIdentity& identity() const { return identity_; }
  shell::Quality expected() const { return expected_; }
  shell::Quality quality() const { return tracker_.quality(); }
  bool executing() const { return tracker_.state() == shell::CommandTracker::State::Executing; }

  // --- what it said of itself
  const std::string& cwd() const { return cwd_; }
  const char* cwd_known_by() const { return cwd_known_by_; }
  const std::map<std::string, std::string>& environment_changes() const { return environment_; }
  void cwd_changed(const shell::CwdChanged& event);
  // For a shell that does not say where it is.
  void kernel_cwd(std::string cwd);
  // `started`: it has had its first prompt. What it has then is how the user starts shells; what comes later
  // is a change.
  void environment_changed(const shell::EnvironmentChanged& event, bool started);

  // For shells that report nothing: what a command that succeeded says. Where they are is known from the text
  // only if the kernel cannot be asked, because the shell is elsewhere.
  void note_from_text(const std::string& command);

  // --- its marks
  // ssh, a container's client: what reads the terminal is not on this machine, or not ours to ask.
  bool elsewhere() const { return marks_lost_ && identity_.kind == shell::ShellKind::Other; }
  bool marks_lost() const { return marks_lost_; }
  bool integrating() const { return integrating_; }
  bool integration_failed() const { return integration_failed_; }
  // Commands go by sentinel: no marks, and none are awaited.
  bool needs_sentinel() const { return marks_lost_ && !integrating_ && quality() == shell::Quality::None; }
  // Why the command that is being closed has no exit status; empty: it should have one.
  const std::string& unmarked_reason() const { return unmarked_reason_; }

  // A shell without marks reads the terminal. `inner`: process of one inside the shell before it.
  struct Unmarked {
    std::string why;
    std::optional<pid_t> inner;
  };
  void unmarked(const Unmarked& what, uint64_t at);
  // What unmarked() led to is told.
  void unmarked_told() { unmarked_reason_.clear(); }
  void reader_is(shell::ShellKind kind) { identity_.kind = kind; }
  // It is given hooks, with the nonce that tracker().nonce() has from here on.
  void integrate(shell::ShellKind kind);
  // Its first prompt with marks came. False: nobody waited for it.
  bool integrated();
  // It does not take them.
  void give_up() { integrating_ = false; }
  void start_timed_out();
  // The shell that started the one which read until now goes on.
  void returned();
  // It waits for a command, whatever was told so far: what came before is not known in full any more.
  void resume(const shell::CommandTracker::AtPrompt& from);
  // All that was logged has been told again. Whether hooks that were being handed over have arrived is seen
  // at the next prompt. True: its marks are back.
  bool settle();
  // The process that reads commands; `first` is the one the terminal was opened with.
  pid_t pid(pid_t first) const { return inner_shells_.empty() ? first : inner_shells_.back(); }

 private:
  shell::ShellIdentity identity_;
  shell::Quality expected_;
  shell::CommandTracker tracker_;
  std::string cwd_;
  const char* cwd_known_by_ = "start";
  std::map<std::string, std::string> environment_;
  std::vector<pid_t> inner_shells_;  // that took the place of the first, innermost last
  bool marks_lost_ = false;
  bool integrating_ = false;
  bool integration_failed_ = false;
  std::string unmarked_reason_;
};

}  // namespace ttyward::engine
