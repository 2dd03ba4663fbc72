#include "io/signals.h"

#include <sys/signalfd.h>
#include <unistd.h>

#include <cerrno>

namespace ttyward::io {

base::Result<std::unique_ptr<Signals>> Signals::watch(Loop& loop, std::initializer_list<int> numbers,
                                                      std::function<void(int)> told) {
  std::unique_ptr<Signals> signals(new Signals(loop, std::move(told)));
  sigset_t set;
  ::sigemptyset(&set);
  for (const int number : numbers) ::sigaddset(&set, number);
  if (const int error = ::pthread_sigmask(SIG_BLOCK, &set, &signals->before_); error != 0) {
    return base::fail_errno(error, "cannot block signals");
  }
  signals->fd_.reset(::signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK));
  if (!signals->fd_) return base::fail_errno(errno, "cannot watch signals");
  if (auto added = loop.poller().add(signals->fd_.get(), EPOLLIN, *signals); !added) {
    return tl::unexpected(added.error());
  }
  return signals;
}

Signals::~Signals() {
  if (fd_) loop_.poller().remove(fd_.get());
  ::pthread_sigmask(SIG_SETMASK, &before_, nullptr);
}

void Signals::on_ready(int fd, uint32_t /*events*/) {
  signalfd_siginfo info{};
  while (::read(fd, &info, sizeof info) == static_cast<ssize_t>(sizeof info)) {
    told_(static_cast<int>(info.ssi_signo));
  }
}

}  // namespace ttyward::io
