#include "telemetry/post.h"

#include <fcntl.h>
#include <netdb.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <memory>
#include <optional>
#include <vector>

#include "base/unique_fd.h"
#include "base/with_timeout.h"

namespace ttyward::telemetry {
namespace {

using std::chrono::milliseconds;

constexpr size_t kLongestHead = 16 * 1024;  // of an answer; nothing of the rest is read

struct Address {
  int family = 0;
  sockaddr_storage address{};
  socklen_t length = 0;
};

// `flags` as getaddrinfo(3) takes them.
base::Result<std::vector<Address>> look_up(const base::HttpEndpoint& endpoint, int flags) {
  addrinfo hints{};
  hints.ai_socktype = SOCK_STREAM;
  hints.ai_flags = flags;
  addrinfo* found = nullptr;
  const int failed =
      ::getaddrinfo(endpoint.host.c_str(), std::to_string(endpoint.port).c_str(), &hints, &found);
  if (failed != 0)
    return base::fail(base::ErrorCode::Unavailable,
                      "cannot find " + endpoint.host + ": " + ::gai_strerror(failed));
  std::vector<Address> all;
  for (const addrinfo* each = found; each != nullptr; each = each->ai_next) {
    if (each->ai_addrlen > sizeof(sockaddr_storage)) continue;
    Address address{each->ai_family, {}, each->ai_addrlen};
    std::copy_n(reinterpret_cast<const char*>(each->ai_addr), each->ai_addrlen,
                reinterpret_cast<char*>(&address.address));
    all.push_back(address);
  }
  ::freeaddrinfo(found);
  return all;
}

base::Result<std::vector<Address>> addresses_of(const base::HttpEndpoint& endpoint) {
  if (auto written = look_up(endpoint, AI_NUMERICHOST); written) return written;
  // The system may take its time with a name, and nobody can interrupt it.
  constexpr milliseconds kLookUp{2000};
  auto found =
      base::with_timeout(kLookUp, [endpoint](const base::StopFlag&) { return look_up(endpoint, 0); });
  if (!found) return tl::unexpected(found.error());
  return std::move(*found);
}

// A socket that gives up in time.
class Exchange {
 public:
  Exchange(Clock::time_point until, int hurry, milliseconds until_then)
      : until_(until), hurry_(hurry), until_then_(until_then) {}

  base::Result<void> connect(const Address& to, const std::string& shown) {
    fd_ = base::UniqueFd(::socket(to.family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
    if (!fd_) return base::fail_errno(errno, "cannot make a socket");
    if (::connect(fd_.get(), reinterpret_cast<const sockaddr*>(&to.address), to.length) == 0) return {};
    if (errno != EINPROGRESS) return base::fail_errno(errno, "cannot connect to " + shown);
    if (auto ready = wait_for(POLLOUT, "connecting to " + shown); !ready) return ready;
    int error = 0;
    socklen_t size = sizeof error;
    ::getsockopt(fd_.get(), SOL_SOCKET, SO_ERROR, &error, &size);
    if (error != 0) return base::fail_errno(error, "cannot connect to " + shown);
    return {};
  }

  base::Result<void> send(std::string_view text) {
    while (!text.empty()) {
      const ssize_t n = ::send(fd_.get(), text.data(), text.size(), MSG_NOSIGNAL);
      if (n >= 0) {
        text.remove_prefix(static_cast<size_t>(n));
      } else if (errno == EAGAIN) {
        if (auto ready = wait_for(POLLOUT, "sending"); !ready) return ready;
      } else if (errno != EINTR) {
        return base::fail_errno(errno, "cannot send");
      }
    }
    return {};
  }

  base::Result<int> read_status() {
    std::string head;
    while (head.find("\r\n") == std::string::npos) {
      if (head.size() > kLongestHead) return not_http();
      if (auto ready = wait_for(POLLIN, "waiting for the answer"); !ready)
        return tl::unexpected(ready.error());
      char buffer[4096];
      const ssize_t n = ::recv(fd_.get(), buffer, sizeof buffer, 0);
      if (n == 0) return base::fail(base::ErrorCode::Unavailable, "the connection was closed");
      if (n < 0 && errno != EAGAIN && errno != EINTR)
        return base::fail_errno(errno, "cannot read the answer");
      if (n > 0) head.append(buffer, static_cast<size_t>(n));
    }
    // HTTP/1.1 200 OK
    int status = 0;
    if (!head.starts_with("HTTP/1.") || head.size() < 12) return not_http();
    const auto [at, error] = std::from_chars(head.data() + 9, head.data() + 12, status);
    if (error != std::errc() || at != head.data() + 12 || status < 100) return not_http();
    return status;
  }

 private:
  static tl::unexpected<base::Error> not_http() {
    return base::fail(base::ErrorCode::Corrupt, "what answers there does not speak HTTP");
  }

  base::Result<void> wait_for(short events, const std::string& what) {
    for (;;) {
      const auto left =
          std::max(milliseconds(0), std::chrono::ceil<milliseconds>(until_ - Clock::now())).count();
      pollfd entries[2] = {{fd_.get(), events, 0}, {hurry_, POLLIN, 0}};
      const int n = ::poll(entries, hurry_ >= 0 ? 2 : 1, static_cast<int>(left));
      if (n < 0 && errno == EINTR) continue;
      if (n < 0) return base::fail_errno(errno, "cannot wait");
      if (entries[0].revents != 0) return {};
      if (hurry_ >= 0 && entries[1].revents != 0) {
        until_ = std::min(until_, Clock::now() + until_then_);
        hurry_ = -1;
        continue;
      }
      if (left == 0) return base::fail(base::ErrorCode::Unavailable, what + " took too long");
    }
  }

  base::UniqueFd fd_;
  Clock::time_point until_;
  int hurry_;
  const milliseconds until_then_;
};

}  // namespace

base::Result<int> post(const PostRequest& request, Clock::time_point until, int hurry,
                       milliseconds until_then) {
  const auto found = addresses_of(request.endpoint);
  if (!found) return tl::unexpected(found.error());
  const std::string shown = request.endpoint.authority();
  std::string head =
      "POST " + request.endpoint.path + std::string(request.path) + " HTTP/1.1\r\nHost: " + shown +
      "\r\nUser-Agent: " + std::string(request.agent) +
      "\r\nContent-Type: application/json\r\nContent-Length: " + std::to_string(request.body.size()) +
      "\r\nConnection: close\r\n\r\n";
  std::optional<base::Error> why;
  for (const Address& address : *found) {
    Exchange exchange(until, hurry, until_then);
    if (auto connected = exchange.connect(address, shown); !connected) {
      why = connected.error();
      continue;
    }
    if (auto sent = exchange.send(head); !sent) return tl::unexpected(sent.error());
    // A server that refuses may answer before it has read all: what it says counts.
    const auto sent = exchange.send(request.body);
    auto status = exchange.read_status();
    return !status && !sent ? base::Result<int>(tl::unexpected(sent.error())) : status;
  }
  if (!why) return base::fail(base::ErrorCode::Unavailable, "there is no address for " + shown);
  return tl::unexpected(*why);
}

}  // namespace ttyward::telemetry
