#include "mcp/http/listener.h"

#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/socket.h>

#include <cerrno>
#include <charconv>
#include <utility>

namespace ttyward::mcp::http {

base::Result<Address> parse_address(const std::string& text) {
  const size_t colon = text.rfind(':');
  const std::string host = text.substr(0, colon);
  Address address;
  address.v6 = host == "[::1]";
  const bool local = address.v6 || host == "127.0.0.1" || host == "localhost";
  const char* end = text.data() + text.size();
  const char* begin = colon == std::string::npos ? end : text.data() + colon + 1;
  const auto parsed = std::from_chars(begin, end, address.port);
  if (!local || begin == end || parsed.ec != std::errc() || parsed.ptr != end || address.port < 0 ||
      address.port > 65535) {
    return base::fail(
        base::ErrorCode::InvalidArgument,
        "'" + text +
            "' is no address to listen on: write 127.0.0.1:PORT or [::1]:PORT (port 0: any free one). "
            "Other addresses would let other machines run commands here");
  }
  return address;
}

base::Result<std::unique_ptr<Listener>> Listener::start(io::Loop& loop, const Address& address) {
  base::UniqueFd socket(
      ::socket(address.v6 ? AF_INET6 : AF_INET, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
  if (!socket) return base::fail_errno(errno, "cannot make a socket");
  const int on = 1;
  ::setsockopt(socket.get(), SOL_SOCKET, SO_REUSEADDR, &on, sizeof on);
  sockaddr_in v4{};
  v4.sin_family = AF_INET;
  v4.sin_port = htons(static_cast<uint16_t>(address.port));
  v4.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  sockaddr_in6 v6{};
  v6.sin6_family = AF_INET6;
  v6.sin6_port = htons(static_cast<uint16_t>(address.port));
  v6.sin6_addr = in6addr_loopback;
  const sockaddr* where =
      address.v6 ? reinterpret_cast<const sockaddr*>(&v6) : reinterpret_cast<const sockaddr*>(&v4);
  const socklen_t size = address.v6 ? sizeof v6 : sizeof v4;
  if (::bind(socket.get(), where, size) != 0 || ::listen(socket.get(), 128) != 0)
    return base::fail_errno(errno, "cannot listen on port " + std::to_string(address.port));
  sockaddr_storage bound{};
  socklen_t bound_size = sizeof bound;
  ::getsockname(socket.get(), reinterpret_cast<sockaddr*>(&bound), &bound_size);
  const uint16_t port = address.v6 ? reinterpret_cast<const sockaddr_in6*>(&bound)->sin6_port
                                   : reinterpret_cast<const sockaddr_in*>(&bound)->sin_port;
  return std::unique_ptr<Listener>(new Listener(loop, std::move(socket), ntohs(port)));
}

Listener::~Listener() {
  watch(false);
  connections_.clear();
}

void Listener::serve(Endpoint& endpoint) {
  endpoint_ = &endpoint;
  watch(true);
}

void Listener::watch(bool on) {
  if (on == watching_) return;
  if (on) {
    watching_ = loop_.poller().add(socket_.get(), EPOLLIN, *this).has_value();
  } else {
    loop_.poller().remove(socket_.get());
    watching_ = false;
  }
}

void Listener::on_ready(int, uint32_t) {
  base::UniqueFd accepted(::accept4(socket_.get(), nullptr, nullptr, SOCK_CLOEXEC | SOCK_NONBLOCK));
  if (!accepted) return;
  const int on = 1;
  ::setsockopt(accepted.get(), IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
  const uint64_t number = ++last_;
  connections_[number] = std::make_unique<Connection>(
      loop_, std::move(accepted),
      [this](const std::shared_ptr<Exchange>& exchange) { endpoint_->handle(exchange); },
      [this, number] {
        connections_.erase(number);
        watch(true);
      });
  if (connections_.size() >= kMaxConnections) watch(false);
}

}  // namespace ttyward::mcp::http
