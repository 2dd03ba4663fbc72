// What runs between clone and exec. Internal to pty/spawn.
//
// The child usually shares the parent's memory (as vfork's does), so this code
// may only make system calls and write to its own stack and to the report:
// no allocation, no locks, no library state. Everything it needs is prepared in
// an ExecPlan by the parent.
#pragma once

#include <sys/resource.h>
#include <sys/types.h>

#include <cstddef>

#include "sandbox/enter.h"

namespace ttyward::pty {

using PreExecHook = int (*)(void* context);

enum class ExecStep : unsigned char {
  Starting,
  Parent,     // the parent was gone before its death signal was armed
  Session,    // setsid, or setpgid in the parent's session
  Terminal,   // taking the controlling terminal
  Stdio,      // dup2 onto 0, 1, 2
  Directory,  // fchdir
  Limits,     // setrlimit
  Hook,       // the caller's own step
  Sandbox,    // ExecReport::failure says which part
  CloseRest,  // close_range
  Exec,       // execve; with no error: it worked
};

struct ExecReport {
  volatile ExecStep step = ExecStep::Starting;
  volatile int sys_errno = 0;
  sandbox::Failure failure;
};

struct ExecLimit {
  int resource = 0;  // RLIMIT_…
  rlimit value{};
};

struct ExecPlan {
  const char* path = nullptr;
  char* const* argv = nullptr;
  char* const* envp = nullptr;
  int stdio[3] = {-1, -1, -1};
  bool take_terminal = false;  // stdio[1] is the slave of our new terminal
  int directory = -1;          // -1: stay
  int umask = -1;              // -1: keep
  bool new_session = true;     // false: the parent's, whose terminal is ours; a new group in its foreground
  int death_signal = 0;        // 0: none
  pid_t parent = 0;
  const ExecLimit* limits = nullptr;
  size_t limit_count = 0;
  const int* keep = nullptr;  // sorted, each above 2
  size_t keep_count = 0;
  PreExecHook hook = nullptr;
  void* hook_context = nullptr;
  const sandbox::Steps* sandbox = nullptr;
  int init_ready = -1;  // with a sandbox that has an init: readable when that is ready
  ExecReport* report = nullptr;
};

// The entry point for clone(2); `plan` is an ExecPlan. Never returns.
int run_exec_plan(void* plan);

}  // namespace ttyward::pty
