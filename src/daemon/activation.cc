#include "daemon/activation.h"

#include <fcntl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include <cerrno>
#include <charconv>
#include <cstdlib>
#include <cstring>
#include <string_view>
#include <utility>

#include "base/private_folder.h"

namespace ttyward::daemon {

namespace {

int number_in(const char* variable) {
  const char* text = std::getenv(variable);
  if (text == nullptr) return 0;
  int number = 0;
  const char* end = text + std::strlen(text);
  const auto [stop, error] = std::from_chars(text, end, number);
  return error == std::errc() && stop == end ? number : 0;
}

int socket_option(int fd, int name) {
  int value = -1;
  socklen_t size = sizeof value;
  return ::getsockopt(fd, SOL_SOCKET, name, &value, &size) == 0 ? value : -1;
}

}  // namespace

int take_activation() {
  const int count = number_in("LISTEN_PID") == ::getpid() ? number_in("LISTEN_FDS") : 0;
  for (const char* name : {"LISTEN_PID", "LISTEN_FDS", "LISTEN_FDNAMES"}) ::unsetenv(name);
  return count > 0 ? count : 0;
}

base::Result<Listener> adopt_listener(base::UniqueFd socket, std::string& sockets) {
  const int fd = socket.get();
  sockaddr_un address{};
  socklen_t size = sizeof address;
  if (socket_option(fd, SO_DOMAIN) != AF_UNIX || socket_option(fd, SO_TYPE) != SOCK_STREAM ||
      socket_option(fd, SO_ACCEPTCONN) != 1 ||
      ::getsockname(fd, reinterpret_cast<sockaddr*>(&address), &size) != 0) {
    return base::fail(base::ErrorCode::InvalidArgument,
                      "LISTEN_FDS: descriptor 3 is not a unix socket that listens; use ListenStream=%t/…");
  }
  const size_t length = size - offsetof(sockaddr_un, sun_path);
  const std::string path(address.sun_path, ::strnlen(address.sun_path, length));
  const size_t slash = path.rfind('/');
  if (slash == std::string::npos || path[0] != '/') {
    return base::fail(base::ErrorCode::InvalidArgument, "LISTEN_FDS: the socket must have an absolute path");
  }
  sockets = path.substr(0, slash);
  auto folder = base::open_private_folder(sockets, base::IfMissing::Fail);
  if (!folder) return tl::unexpected(folder.error());
  ::fcntl(fd, F_SETFD, FD_CLOEXEC);
  ::fcntl(fd, F_SETFL, ::fcntl(fd, F_GETFL) | O_NONBLOCK);
  return Listener{std::move(socket), {}, sockets, path.substr(slash + 1), 0};
}

void notify_manager(const std::string& state) {
  const char* where = std::getenv("NOTIFY_SOCKET");
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  if (where == nullptr || (where[0] != '/' && where[0] != '@')) return;
  const std::string_view path = where;
  if (path.size() >= sizeof address.sun_path) return;
  path.copy(address.sun_path, path.size());
  if (path[0] == '@') address.sun_path[0] = '\0';
  const base::UniqueFd fd(::socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0));
  const auto size = static_cast<socklen_t>(offsetof(sockaddr_un, sun_path) + path.size());
  if (fd) {
    static_cast<void>(::sendto(fd.get(), state.data(), state.size(), MSG_NOSIGNAL | MSG_DONTWAIT,
                               reinterpret_cast<const sockaddr*>(&address), size));
  }
}

}  // namespace ttyward::daemon
