#include "base/unique_fd.h"

#include <unistd.h>

#include <cerrno>

namespace ttyward::base {

void UniqueFd::reset(int fd) {
  if (fd_ >= 0 && fd_ != fd) {
    const int saved = errno;  // a destructor must not disturb the error being reported
    ::close(fd_);
    errno = saved;
  }
  fd_ = fd;
}

}  // namespace ttyward::base
