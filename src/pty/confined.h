// Starting a command in namespaces of its own. Internal to pty/spawn.
//
// Three processes are made (sandbox/enter.h draws them). The command is our child, as without a sandbox, so
// its exit status, its pidfd and its session are what they always are.
#pragma once

#include <sys/types.h>

#include "base/unique_fd.h"
#include "pty/exec_child.h"

namespace ttyward::pty {

struct Confined {
  pid_t pid = -1;  // 0: the command's process was never made; the report says why. -1: sys_errno says why
  base::UniqueFd pidfd;
  int sys_errno = 0;
  pid_t init = 0;
  base::UniqueFd control;  // closing it ends init, and all that is in the namespace with it
};

enum class Memory : unsigned char { Shared, Copied };

// Blocks until the command was executed or could not be. The caller holds all signals back.
Confined start_confined(ExecPlan& plan, ExecReport& report, Memory memory);

}  // namespace ttyward::pty
