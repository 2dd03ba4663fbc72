// Processes that a command started and did not wait for, as the kernel knows them.
#pragma once

#include <sys/types.h>

#include <chrono>
#include <span>

#include "terminal/result.h"

namespace ttyward::engine {

// Of all processes, the one that was made last; 0: not known.
pid_t newest_pid();

struct BackgroundSearch {
  pid_t holder = 0;
  pid_t shell = 0;          // the terminal's first process
  pid_t newest_before = 0;  // when the command was sent; 0: not known
  std::chrono::milliseconds ran{0};
  bool shells_group_too = false;  // a shell on pipes has no job control: its jobs are in its own group
};
// Adds to `facts` what is left of the command, with the ports it listens on.
void list_background(const BackgroundSearch& search, terminal::CommandResult& facts);
void list_ports(terminal::CommandResult& facts, std::span<const pid_t> pids);

}  // namespace ttyward::engine
