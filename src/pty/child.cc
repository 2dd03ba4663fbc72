#include "pty/child.h"

#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>

namespace ttyward::pty {
namespace {

int64_t milliseconds(const timeval& t) {
  return int64_t{t.tv_sec} * 1000 + t.tv_usec / 1000;
}

}  // namespace

int wait_with_usage(int id_type, id_t id, int options, siginfo_t& info, ResourceUse& use) {
  info = {};
  rusage raw{};
  long rc = 0;
  do {
    rc = ::syscall(SYS_waitid, id_type, id, &info, options, &raw);
  } while (rc == -1 && errno == EINTR);
  if (rc == -1) return errno;
  use = {milliseconds(raw.ru_utime) + milliseconds(raw.ru_stime), raw.ru_maxrss};
  return 0;
}

ExitStatus exit_status_of(const siginfo_t& info) {
  if (info.si_code == CLD_EXITED) return {ExitStatus::Kind::Exited, info.si_status, 0, false};
  return {ExitStatus::Kind::Signaled, 0, info.si_status, info.si_code == CLD_DUMPED};
}

base::Result<std::optional<Exit>> Child::try_reap() {
  if (exit_) return exit_;
  siginfo_t info{};
  ResourceUse use;
  const int error = wait_with_usage(P_PIDFD, static_cast<id_t>(pidfd_.get()), WEXITED | WNOHANG, info, use);
  if (error != 0) return base::fail_errno(error, "collecting the exit of process " + std::to_string(pid_));
  if (info.si_pid == 0) return std::nullopt;
  exit_ = Exit{exit_status_of(info), use};
  return exit_;
}

base::Result<void> Child::signal(int number) const {
  if (::syscall(SYS_pidfd_send_signal, pidfd_.get(), number, nullptr, 0) == 0) return {};
  return base::fail_errno(errno, "sending " + signal_name(number) + " to process " + std::to_string(pid_));
}

}  // namespace ttyward::pty
