#include "pty/exec_child.h"

#include <fcntl.h>
#include <sys/ioctl.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>

// The frames below never return: they end in exec or _exit. A sanitizer would
// leave its marks around them on a stack that the parent goes on using.
#define TTYWARD_NO_SANITIZE __attribute__((no_sanitize("address", "undefined", "thread"), noinline))

namespace ttyward::pty {
namespace {

constexpr int kFailedBeforeExec = 127;  // nobody sees it: the parent has the report and collects the child
constexpr unsigned kLastDescriptor = ~0U;

[[noreturn]] TTYWARD_NO_SANITIZE void give_up(const ExecPlan& plan, ExecStep step, int sys_errno) {
  plan.report->step = step;
  plan.report->sys_errno = sys_errno == 0 ? EIO : sys_errno;
  ::_exit(kFailedBeforeExec);
}

// exec keeps what is ignored; a command must start with every signal as the
// system delivers it, whatever we or whoever started us ignore.
TTYWARD_NO_SANITIZE void reset_signal_dispositions() {
  struct sigaction fresh;
  __builtin_memset(&fresh, 0, sizeof fresh);
  fresh.sa_handler = SIG_DFL;
  for (int number = 1; number < NSIG; ++number) ::sigaction(number, &fresh, nullptr);
}

TTYWARD_NO_SANITIZE void set_stdio(const ExecPlan& plan) {
  for (int target = 0; target < 3; ++target) {
    const int source = plan.stdio[target];
    const int rc = source == target ? ::fcntl(target, F_SETFD, 0) : ::dup2(source, target);
    if (rc == -1) give_up(plan, ExecStep::Stdio, errno);
  }
}

TTYWARD_NO_SANITIZE void close_between(unsigned first, unsigned last) {
  if (first > last || ::syscall(SYS_close_range, first, last, 0) == 0) return;
  // A kernel before 5.9. Our own descriptors are CLOEXEC; this is for those of others.
  rlimit limit{};
  const unsigned end =
      ::getrlimit(RLIMIT_NOFILE, &limit) == 0 ? static_cast<unsigned>(limit.rlim_cur) : 1024U;
  for (unsigned fd = first; fd < end && fd <= last; ++fd) ::close(static_cast<int>(fd));
}

TTYWARD_NO_SANITIZE void close_the_rest(const ExecPlan& plan) {
  unsigned first = 3;
  for (size_t i = 0; i < plan.keep_count; ++i) {
    const int kept = plan.keep[i];
    if (::fcntl(kept, F_SETFD, 0) == -1) give_up(plan, ExecStep::CloseRest, errno);
    close_between(first, static_cast<unsigned>(kept) - 1);
    first = static_cast<unsigned>(kept) + 1;
  }
  close_between(first, kLastDescriptor);
}

TTYWARD_NO_SANITIZE void join_session(const ExecPlan& plan) {
  if (plan.death_signal != 0) {
    ::prctl(PR_SET_PDEATHSIG, plan.death_signal);
    // In a process namespace of its own it cannot see its parent; whoever killed that one kills the sandbox.
    const bool sees_parent = plan.sandbox == nullptr || !plan.sandbox->namespaces;
    if (sees_parent && ::getppid() != plan.parent)
      give_up(plan, ExecStep::Parent, ESRCH);  // it died before we armed
  }
  if (!plan.new_session) {
    if (::setpgid(0, 0) == -1) give_up(plan, ExecStep::Session, errno);
    // Allowed from the background: every signal is blocked here, SIGTTOU too.
    pid_t group = ::getpid();
    if (::ioctl(plan.stdio[1], TIOCSPGRP, &group) == -1) give_up(plan, ExecStep::Terminal, errno);
    return;
  }
  if (::setsid() == -1) give_up(plan, ExecStep::Session, errno);
  if (plan.take_terminal && ::ioctl(plan.stdio[1], TIOCSCTTY, 0) == -1)
    give_up(plan, ExecStep::Terminal, errno);
}

}  // namespace

TTYWARD_NO_SANITIZE int run_exec_plan(void* argument) {
  const ExecPlan& plan = *static_cast<const ExecPlan*>(argument);
  reset_signal_dispositions();  // first: the parent's handlers must never run here
  join_session(plan);
  set_stdio(plan);
  if (plan.directory >= 0 && ::fchdir(plan.directory) == -1) give_up(plan, ExecStep::Directory, errno);
  if (plan.umask >= 0) ::umask(static_cast<mode_t>(plan.umask));
  for (size_t i = 0; i < plan.limit_count; ++i) {
    const ExecLimit& limit = plan.limits[i];
    if (::setrlimit(static_cast<__rlimit_resource>(limit.resource), &limit.value) == -1)
      give_up(plan, ExecStep::Limits, errno);
  }
  if (plan.hook != nullptr) {
    if (const int error = plan.hook(plan.hook_context); error != 0) give_up(plan, ExecStep::Hook, error);
  }
  if (plan.sandbox != nullptr && !sandbox::enter(*plan.sandbox, plan.init_ready, plan.report->failure))
    give_up(plan, ExecStep::Sandbox, plan.report->failure.sys_errno);
  close_the_rest(plan);
  sigset_t none;
  ::sigemptyset(&none);
  ::sigprocmask(SIG_SETMASK, &none, nullptr);
  plan.report->step = ExecStep::Exec;
  ::execve(plan.path, plan.argv, plan.envp);
  give_up(plan, ExecStep::Exec, errno);
}

}  // namespace ttyward::pty
