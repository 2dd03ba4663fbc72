#include "sandbox/confinement.h"

#include <poll.h>
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
  const char message = kCommandEnded;
  (void)!::write(control_.get(), &message, 1);
}

}  // namespace ttyward::sandbox
