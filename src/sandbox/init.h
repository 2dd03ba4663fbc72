// Process 1 of a sandbox's process namespace. Internal to pty/spawn.
//
// It collects orphans, relays connections to the proxy if there is one, and ends when the command has ended
// and no process is left; with it the kernel ends the namespace. When the holder is gone, it ends at once,
// and the kernel kills everything in the namespace.
//
// It is a copy of its parent's memory, which may contain secrets, so it cannot be read or traced from inside.
// The parent may have had several threads: system calls only.
#pragma once

#include "sandbox/enter.h"

namespace ttyward::sandbox {

// What the holder writes to an init's control pipe when the command has ended. Closing the pipe ends the
// namespace.
inline constexpr char kCommandEnded = 'e';

struct InitPlan {
  const Steps* steps = nullptr;
  int control = -1;  // the reading end of a pipe to which the holder has the other
  int ready = -1;    // one byte is written when init is safe from the command
};

// The entry point for clone(2); `plan` is an InitPlan. Never returns.
int run_init(void* plan);

}  // namespace ttyward::sandbox
