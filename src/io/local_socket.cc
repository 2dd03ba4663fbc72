#include "io/local_socket.h"

#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>

namespace ttyward::io {
namespace {

base::UniqueFd new_socket(Blocking blocking) {
  const int flags = SOCK_CLOEXEC | (blocking == Blocking::No ? SOCK_NONBLOCK : 0);
  return base::UniqueFd(::socket(AF_UNIX, SOCK_STREAM | flags, 0));
}

}  // namespace

sockaddr_un socket_address(int folder, const std::string& file) {
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  const std::string path = "/proc/self/fd/" + std::to_string(folder) + "/" + file;
  path.copy(address.sun_path, sizeof address.sun_path - 1);
  return address;
}

base::Result<base::UniqueFd> listen_in(int folder, const std::string& file, const std::string& shown,
                                       int backlog, Blocking blocking) {
  base::UniqueFd listener = new_socket(blocking);
  if (!listener) return base::fail_errno(errno, "cannot make a socket");
  const sockaddr_un address = socket_address(folder, file);
  // By umask and not by chmod: there is no moment at which others could connect.
  const mode_t before = ::umask(0177);
  const int bound = ::bind(listener.get(), reinterpret_cast<const sockaddr*>(&address), sizeof address);
  const int error = errno;
  ::umask(before);
  if (bound != 0) return base::fail_errno(error, "cannot bind " + shown);
  if (::listen(listener.get(), backlog) != 0) return base::fail_errno(errno, "cannot listen on " + shown);
  return listener;
}

base::Result<base::UniqueFd> connect_in(int folder, const std::string& file, const std::string& failure,
                                        Blocking blocking) {
  base::UniqueFd socket = new_socket(blocking);
  if (!socket) return base::fail_errno(errno, "cannot make a socket");
  const sockaddr_un address = socket_address(folder, file);
  while (::connect(socket.get(), reinterpret_cast<const sockaddr*>(&address), sizeof address) != 0) {
    if (errno != EINTR) return base::fail_errno(errno, failure);
  }
  return socket;
}

bool same_user(int socket) {
  ucred peer{};
  socklen_t size = sizeof peer;
  return ::getsockopt(socket, SOL_SOCKET, SO_PEERCRED, &peer, &size) == 0 && peer.uid == ::geteuid();
}

}  // namespace ttyward::io
