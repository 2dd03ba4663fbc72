// An HTTP/1.1 server on a loopback address, for front ends: whole answers, server-sent events, WebSockets.
//
// Flow at a glance:
//   accept ─► Connection reads a Request ─► Handle(Exchange) ─► respond / events / WebSocket
//
// Boost.Asio owns the process's loop while run() runs, and io::Loop hangs in it as one more descriptor and
// timer. So whoever uses io::Loop (the client of the daemon, MCP's tasks) works unchanged, and everything
// happens on one thread. docs/decisions/0004-loops.md says why the daemon keeps io::Loop alone.
//
// Thread rule: the thread that calls run().
#pragma once

#include <chrono>
#include <cstddef>
#include <functional>
#include <memory>
#include <string>

#include "base/result.h"
#include "http/exchange.h"
#include "io/loop.h"

namespace ttyward::http {

struct Address {
  bool v6 = false;
  int port = 0;  // 0: any that is free
};
// "127.0.0.1:8080", "[::1]:8080", "localhost:0". Anything that is not loopback is refused.
base::Result<Address> parse_address(const std::string& text);

struct Limits {
  size_t body = size_t{4} << 20;                   // a larger request: 413
  size_t headers = size_t{16} << 10;               // longer headers: 431
  size_t unsent = size_t{32} << 20;                // a client that lets more wait is disconnected
  size_t connections = 256;                        // more wait until one closes
  size_t message = size_t{1} << 20;                // of a WebSocket; a longer one closes it with 1009
  std::chrono::milliseconds request_time{30'000};  // for a whole request, from its first byte
  std::chrono::milliseconds idle_time{300'000};    // between requests
  std::chrono::milliseconds keep_alive{15'000};    // between comments on a silent stream
  std::chrono::milliseconds ping_after{
      30'000};  // a WebSocket silent so long is pinged, and ends at twice that
};

class Server {
 public:
  using Handle = std::function<void(const std::shared_ptr<Exchange>& exchange)>;

  // Listens; connections wait until serve().
  static base::Result<std::unique_ptr<Server>> listen(io::Loop& loop, const Address& address,
                                                      const Limits& limits = {});
  // Closes every connection. Nobody is told.
  ~Server();

  int port() const;
  void serve(Handle handle);
  // Runs this server and the loop until loop.stop().
  void run();
  // Ends in good order: no new connection or request is taken, WebSockets are told that we go, and `done` is
  // called when the last answer is sent or after `grace`.
  void shut_down(std::chrono::milliseconds grace, std::function<void()> done);

 private:
  struct Parts;
  explicit Server(std::unique_ptr<Parts> parts);
  std::unique_ptr<Parts> parts_;
};

}  // namespace ttyward::http
