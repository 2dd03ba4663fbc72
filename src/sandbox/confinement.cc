#include "sandbox/confinement.h"

#include <poll.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>

#include "sandbox/init.h"

namespace ttyward::sandbox {

Confinement::~Confinement() {
  control_.reset();  // init ends now, and the kernel ends everything below it
  if (init_ > 0)
    while (::waitpid(init_, nullptr, __WALL) < 0 && errno == EINTR) {
    }
}

bool Confinement::wait_briefly() const {
  constexpr int kMoment = 5;  // milliseconds
  if (init_ <= 0) return true;
  pollfd reader_gone{control_.get(), 0, 0};
  return ::poll(&reader_gone, 1, kMoment) == 1;
}

void Confinement::command_ended() {
  if (!control_) return;
  // Init may have been killed, for want of memory: the signal that such a write brings is not for us.
  sigset_t broken_pipe;
  sigset_t before;
  ::sigemptyset(&broken_pipe);
  ::sigaddset(&broken_pipe, SIGPIPE);
  ::pthread_sigmask(SIG_BLOCK, &broken_pipe, &before);
  const char message = kCommandEnded;
  const bool broken = ::write(control_.get(), &message, 1) < 0 && errno == EPIPE;
  const timespec now{};
  if (broken && ::sigismember(&before, SIGPIPE) == 0) ::sigtimedwait(&broken_pipe, nullptr, &now);
  ::pthread_sigmask(SIG_SETMASK, &before, nullptr);
}

}  // namespace ttyward::sandbox
