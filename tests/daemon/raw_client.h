// For tests: a client that sends whatever bytes it likes.
#pragma once

#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cerrno>
#include <string>
#include <string_view>

#include "base/private_folder.h"
#include "base/unique_fd.h"
#include "io/daemon_place.h"
#include "io/local_socket.h"

namespace ttyward::tests {

class RawClient {
 public:
  explicit RawClient(const std::string& folder) {
    auto opened = base::open_private_folder(folder, base::IfMissing::Fail).value();
    fd_.reset(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0));
    const sockaddr_un address = io::socket_address(opened.get(), io::kDaemonSocket);
    connected_ = ::connect(fd_.get(), reinterpret_cast<const sockaddr*>(&address), sizeof address) == 0;
  }
  bool connected() const { return connected_; }
  int fd() const { return fd_.get(); }

  // False: the daemon closed the connection before it had everything.
  bool send(std::string_view bytes) const {
    while (!bytes.empty()) {
      const ssize_t done = ::send(fd_.get(), bytes.data(), bytes.size(), MSG_NOSIGNAL);
      if (done < 0 && errno == EINTR) continue;
      if (done <= 0) return false;
      bytes.remove_prefix(static_cast<size_t>(done));
    }
    return true;
  }
  bool hello() {
    return send("{\"hello\":{\"protocol\":1,\"role\":\"person\",\"client\":\"raw\"}}\n") && !line().empty();
  }
  // The next line without its end; empty at the end of the connection.
  std::string line() {
    for (;;) {
      if (const size_t end = in_.find('\n'); end != std::string::npos) {
        std::string line = in_.substr(0, end);
        in_.erase(0, end + 1);
        return line;
      }
      if (!receive()) return {};
    }
  }
  // Everything up to the end of the connection.
  std::string rest() {
    while (receive()) {
    }
    return std::exchange(in_, {});
  }
  void close() { fd_.reset(); }

 private:
  bool receive() {
    char buffer[65536];
    ssize_t got = 0;
    while ((got = ::recv(fd_.get(), buffer, sizeof buffer, 0)) < 0 && errno == EINTR) {
    }
    if (got <= 0) return false;
    in_.append(buffer, static_cast<size_t>(got));
    return true;
  }

  base::UniqueFd fd_;
  std::string in_;
  bool connected_ = false;
};

}  // namespace ttyward::tests
