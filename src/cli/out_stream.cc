#include "cli/out_stream.h"

#include <limits.h>
#include <poll.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>

namespace ttyward::cli {

// One piece, if the reader has room now. A writable pipe takes PIPE_BUF bytes without blocking.
bool OutStream::write_some() {
  pollfd out{STDOUT_FILENO, POLLOUT, 0};
  if (::poll(&out, 1, 0) <= 0) return false;
  const ssize_t n = ::write(STDOUT_FILENO, queue_.data() + done_, std::min<size_t>(waiting(), PIPE_BUF));
  if (n < 0) {
    if (errno == EINTR || errno == EAGAIN) return true;
    gone_ = true;
    return false;
  }
  done_ += static_cast<size_t>(n);
  if (done_ == queue_.size()) {
    queue_.clear();
    done_ = 0;
  } else if (done_ > kEnough) {
    queue_.erase(0, done_);
    done_ = 0;
  }
  return true;
}

bool OutStream::flush() {
  while (waiting() > 0 && !gone_ && write_some()) {
  }
  return !gone_;
}

}  // namespace ttyward::cli
