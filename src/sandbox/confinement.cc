#include "sandbox/confinement.h"

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

void Confinement::command_ended() {
  if (!control_) return;
  const char message = kCommandEnded;
  (void)!::write(control_.get(), &message, 1);
}

}  // namespace ttyward::sandbox
