// The one file that includes Boost.Asio's acceptor and lets Asio drive io::Loop; connection.cc has the rest.
#include "http/server.h"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <charconv>
#include <map>
#include <utility>

#include <boost/asio/basic_socket_acceptor.hpp>
#include <boost/asio/basic_waitable_timer.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/posix/basic_stream_descriptor.hpp>

#include "http/connection.h"

namespace ttyward::http {

namespace {

namespace asio = boost::asio;
using asio::ip::tcp;
using boost::system::error_code;
using Clock = std::chrono::steady_clock;
using Executor = asio::io_context::executor_type;
using Timer = asio::basic_waitable_timer<Clock, asio::wait_traits<Clock>, Executor>;

constexpr int kBacklog = 128;
// After an accept that failed, for lack of descriptors most likely.
constexpr std::chrono::milliseconds kAcceptPause{100};

// Runs io::Loop inside Asio's: its poller is a descriptor, its earliest timer a timer.
class LoopDriver {
 public:
  LoopDriver(asio::io_context& io, io::Loop& loop)
      : io_(io), loop_(loop), ready_(io.get_executor()), timer_(io.get_executor()) {
    ready_.assign(::fcntl(loop.fd(), F_DUPFD_CLOEXEC, 3));
    wait();
    turn();
  }

 private:
  void wait() {
    ready_.async_wait(asio::posix::descriptor_base::wait_read, [this](const error_code& error) {
      if (error) return;
      wait();
      turn();
    });
  }
  void turn() {
    loop_.turn(Clock::duration::zero());
    if (loop_.take_stop()) return io_.stop();
    const auto next = loop_.next_turn();
    if (!next) return;
    timer_.expires_at(*next);
    timer_.async_wait([this](const error_code& error) {
      if (!error) turn();
    });
  }

  asio::io_context& io_;
  io::Loop& loop_;
  asio::posix::basic_stream_descriptor<Executor> ready_;
  Timer timer_;
};

}  // namespace

struct Server::Parts {
  Parts(io::Loop& the_loop, const Limits& the_limits) : loop(the_loop), limits(the_limits) {}

  base::Result<void> listen(const Address& address) {
    error_code error;
    const tcp::endpoint where(
        address.v6 ? asio::ip::address(asio::ip::address_v6::loopback()) : asio::ip::address_v4::loopback(),
        static_cast<uint16_t>(address.port));
    v6 = address.v6;
    acceptor.open(where.protocol(), error);
    if (!error) acceptor.set_option(tcp::acceptor::reuse_address(true), error);
    if (!error) acceptor.bind(where, error);
    if (!error) acceptor.listen(kBacklog, error);
    if (error)
      return base::fail_errno(error.value(), "cannot listen on port " + std::to_string(address.port));
    return {};
  }

  void accept() {
    if (accepting || !acceptor.is_open() || connections.size() >= limits.connections) return;
    accepting = true;
    acceptor.async_accept([this](const error_code& error, Accepted socket) {
      accepting = false;
      if (error == asio::error::operation_aborted) return;
      if (error) {
        pause.expires_after(kAcceptPause);
        return pause.async_wait([this](const error_code& stopped) {
          if (!stopped) accept();
        });
      }
      take(std::move(socket));
      accept();
    });
  }

  using Accepted = asio::basic_stream_socket<tcp, Executor>;
  void take(Accepted socket) {
    const uint64_t number = ++last;
    error_code error;
    const int descriptor = socket.release(error);
    if (error) return;
    connections[number] = Connection::start(io, descriptor, v6, limits, handle, [this, number] {
      connections.erase(number);
      accept();
      if (connections.empty()) report_done();
    });
  }

  void report_done() {
    if (const auto tell = std::exchange(done, nullptr)) tell();
  }

  void shut_down(std::chrono::milliseconds grace, std::function<void()> when_done) {
    done = std::move(when_done);
    error_code ignored;
    acceptor.close(ignored);
    if (connections.empty()) return report_done();
    const auto open = connections;  // one that closes leaves the map
    for (const auto& [number, connection] : open) connection->finish();
    pause.expires_after(grace);
    pause.async_wait([this](const error_code& error) {
      if (!error) report_done();
    });
  }

  io::Loop& loop;
  const Limits limits;
  asio::io_context io{1};  // one thread
  asio::basic_socket_acceptor<tcp, Executor> acceptor{io.get_executor()};
  Timer pause{io.get_executor()};
  bool v6 = false;
  bool accepting = false;
  Server::Handle handle;
  std::map<uint64_t, std::shared_ptr<Connection>> connections;
  uint64_t last = 0;
  std::function<void()> done;
};

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
    return base::fail(base::ErrorCode::InvalidArgument,
                      "cannot listen on '" + text +
                          "': write 127.0.0.1:PORT or [::1]:PORT (port 0: any free one). Other addresses "
                          "would let other machines run commands here");
  }
  return address;
}

Server::Server(std::unique_ptr<Parts> parts) : parts_(std::move(parts)) {}

Server::~Server() {
  for (const auto& [number, connection] : std::exchange(parts_->connections, {})) connection->abandon();
}

base::Result<std::unique_ptr<Server>> Server::listen(io::Loop& loop, const Address& address,
                                                     const Limits& limits) {
  auto parts = std::make_unique<Parts>(loop, limits);
  if (auto listening = parts->listen(address); !listening) return tl::unexpected(listening.error());
  return std::unique_ptr<Server>(new Server(std::move(parts)));
}

int Server::port() const {
  error_code error;
  return parts_->acceptor.local_endpoint(error).port();
}

void Server::serve(Handle handle) {
  parts_->handle = std::move(handle);
  parts_->accept();
}

void Server::run() {
  const LoopDriver driver(parts_->io, parts_->loop);
  parts_->io.restart();
  parts_->io.run();
}

void Server::shut_down(std::chrono::milliseconds grace, std::function<void()> done) {
  parts_->shut_down(grace, std::move(done));
}

}  // namespace ttyward::http
