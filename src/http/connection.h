// One connection of a server: reads requests, hands each on as an Exchange, writes the answer, then reads the
// next; or becomes a WebSocket.
//
// A client that goes away while its answer is under way is noticed at once.
//
// Thread rule: the thread that runs the io_context.
#pragma once

#include <functional>
#include <memory>

#include "http/server.h"

namespace boost::asio {
class io_context;
}

namespace ttyward::http {

class Connection {
 public:
  virtual ~Connection() = default;
  // Takes the socket over. `closed` is called once, from the loop, unless abandon() came first.
  static std::shared_ptr<Connection> start(boost::asio::io_context& io, int socket, bool v6,
                                           const Limits& limits, Server::Handle handle,
                                           std::function<void()> closed);
  // Takes no more requests: closes when what is under way is answered.
  virtual void finish() = 0;
  // Closes now and tells nobody.
  virtual void abandon() = 0;
};

}  // namespace ttyward::http
