#include "sandbox/init.h"

#include <fcntl.h>
#include <linux/capability.h>
#include <poll.h>
#include <sched.h>
#include <sys/prctl.h>
#include <sys/signalfd.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>

#include "sandbox/relay.h"

namespace ttyward::sandbox {
namespace {

void keep_only(int first, int second) {
  const auto low = static_cast<unsigned>(first < second ? first : second);
  const auto high = static_cast<unsigned>(first < second ? second : first);
  if (low > 0) ::syscall(SYS_close_range, 0, low - 1, 0);
  if (high > low + 1) ::syscall(SYS_close_range, low + 1, high - 1, 0);
  ::syscall(SYS_close_range, high + 1, ~0U, 0);
}

bool drop_everything(const Steps& steps) {
  if (!steps.user_namespace && (::syscall(SYS_setgroups, 0, nullptr) != 0 ||
                                (steps.stand_in >= 0 && ::setns(steps.stand_in, CLONE_NEWUSER) != 0) ||
                                ::syscall(SYS_setresgid, steps.group, steps.group, steps.group) != 0 ||
                                ::syscall(SYS_setresuid, steps.user, steps.user, steps.user) != 0))
    return false;
  __user_cap_header_struct header{_LINUX_CAPABILITY_VERSION_3, 0};
  __user_cap_data_struct none[2] = {};
  if (::syscall(SYS_capset, &header, none) != 0) return false;
  if (::prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0) return false;
  return ::prctl(PR_SET_DUMPABLE, 0, 0, 0, 0) == 0;  // last: a change of user sets it, too
}

// True: nobody is left to collect.
bool collect_orphans() {
  for (;;) {
    const pid_t pid = ::waitpid(-1, nullptr, WNOHANG | __WALL);
    if (pid > 0 || (pid < 0 && errno == EINTR)) continue;
    return pid < 0;
  }
}

int watch_children() {
  sigset_t children;
  ::sigemptyset(&children);
  ::sigaddset(&children, SIGCHLD);
  struct sigaction fresh = {};
  fresh.sa_handler = SIG_DFL;
  ::sigaction(SIGCHLD, &fresh, nullptr);
  ::sigprocmask(SIG_BLOCK, &children, nullptr);
  return ::signalfd(-1, &children, SFD_CLOEXEC | SFD_NONBLOCK);
}

[[noreturn]] void supervise(int control, int children, Relay& relay) {
  bool ended = false;
  for (;;) {
    if (ended && collect_orphans()) ::_exit(0);
    pollfd waits[2 + Relay::kMostWaits];
    waits[0] = {control, POLLIN, 0};
    waits[1] = {children, POLLIN, 0};
    const size_t count = 2 + relay.wait_for(waits + 2);
    if (::poll(waits, count, -1) < 0) continue;
    if (waits[0].revents != 0) {
      char message = 0;
      const ssize_t got = ::read(control, &message, 1);
      if (got == 0) ::_exit(0);
      if (got == 1 && message == kCommandEnded) ended = true;
    }
    if (waits[1].revents != 0) {
      signalfd_siginfo info;
      while (::read(children, &info, sizeof info) == sizeof info) {
      }
      collect_orphans();
    }
    relay.turn(waits + 2, count - 2);
  }
}

}  // namespace

int run_init(void* argument) {
  const InitPlan& plan = *static_cast<const InitPlan*>(argument);
  ::prctl(PR_SET_NAME, "sandbox-init", 0, 0, 0);
  if (!drop_everything(*plan.steps) || ::chdir("/") != 0) ::_exit(1);
  ::setsid();
  keep_only(plan.control, plan.ready);
  const int children = watch_children();
  if (children < 0) ::_exit(1);
  Relay relay;
  if (plan.steps->proxy && !relay.listen()) ::_exit(1);
  const char ready = 'r';
  if (::write(plan.ready, &ready, 1) != 1) ::_exit(1);
  ::close(plan.ready);
  supervise(plan.control, children, relay);
}

}  // namespace ttyward::sandbox
