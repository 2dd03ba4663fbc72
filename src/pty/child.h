// A process we started: its pid, a pidfd that becomes readable when it ends, and
// its exit once it was collected.
//
// Passive: it never blocks and knows no event loop. The owner watches
// pidfd() and calls try_reap(). The destructor neither kills nor waits; a child
// that is to go away is brought down by a KillLadder first.
#pragma once

#include <sys/types.h>

#include <csignal>
#include <optional>

#include "base/result.h"
#include "base/unique_fd.h"
#include "pty/exit_status.h"

namespace ttyward::pty {

class Child {
 public:
  Child(pid_t pid, base::UniqueFd pidfd) : pid_(pid), pidfd_(std::move(pidfd)) {}

  pid_t pid() const { return pid_; }
  int pidfd() const { return pidfd_.get(); }

  // Collects the exit if there is one; nullopt while the process lives. The
  // answer is kept, so asking again is harmless. An error means that somebody
  // else collected it: the exit is lost, not zero.
  base::Result<std::optional<Exit>> try_reap();
  const std::optional<Exit>& exit() const { return exit_; }

  // Sends to this process and no other, however long ago it ended.
  base::Result<void> signal(int number) const;

 private:
  pid_t pid_;
  base::UniqueFd pidfd_;
  std::optional<Exit> exit_;
};

// waitid(2) with the resource use that glibc's wrapper leaves out.
// 0, or an errno; info.si_pid is 0 where WNOHANG found nobody.
int wait_with_usage(int id_type, id_t id, int options, siginfo_t& info, ResourceUse& use);

// The status in what waitid(2) filled in.
ExitStatus exit_status_of(const siginfo_t& info);

}  // namespace ttyward::pty
