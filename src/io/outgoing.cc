#include "io/outgoing.h"

#include <sys/socket.h>

#include <cerrno>
#include <utility>

namespace ttyward::io {

bool Outgoing::flush(int socket, Poller& poller, Poller::Handler& handler, uint32_t usual) {
  size_t done = 0;
  bool good = true;
  while (done < bytes_.size()) {
    const ssize_t sent =
        ::send(socket, bytes_.data() + done, bytes_.size() - done, MSG_NOSIGNAL | MSG_DONTWAIT);
    if (sent > 0) {
      done += static_cast<size_t>(sent);
    } else if (sent == 0 || errno != EINTR) {
      good = sent < 0 && errno == EAGAIN;
      break;
    }
  }
  bytes_.erase(0, done);
  if (!good) return false;
  const bool wanted = !bytes_.empty();
  if (wanted != std::exchange(waiting_, wanted))
    poller.change(socket, wanted ? usual | EPOLLOUT : usual, handler);
  return true;
}

}  // namespace ttyward::io
