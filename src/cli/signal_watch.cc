#include "cli/signal_watch.h"

#include <sys/signalfd.h>
#include <unistd.h>

namespace ttyward::cli {

SignalWatch::SignalWatch(std::initializer_list<int> numbers) {
  sigset_t set;
  sigemptyset(&set);
  for (const int number : numbers) sigaddset(&set, number);
  ::sigprocmask(SIG_BLOCK, &set, &before_);
  fd_.reset(::signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK));
}

// What came and nobody took is dropped: it was meant for what has just ended.
SignalWatch::~SignalWatch() {
  while (take() != 0) {
  }
  ::sigprocmask(SIG_SETMASK, &before_, nullptr);
}

int SignalWatch::take() {
  signalfd_siginfo info{};
  const bool got = fd_ && ::read(fd_.get(), &info, sizeof info) == static_cast<ssize_t>(sizeof info);
  return got ? static_cast<int>(info.ssi_signo) : 0;
}

}  // namespace ttyward::cli
