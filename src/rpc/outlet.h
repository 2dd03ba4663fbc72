// Where the messages about one request go: standard output, an HTTP response, a WebSocket.
#pragma once

#include <boost/json.hpp>

namespace ttyward::rpc {

enum class Last { No, Yes };

class Outlet {
 public:
  virtual ~Outlet() = default;
  // `last`: this is the answer; nothing more comes for this request.
  virtual void send(const boost::json::object& message, Last last) = 0;
  // The answers to a batch, together.
  virtual void send_batch(const boost::json::array& answers) {
    for (const boost::json::value& answer : answers) send(answer.as_object(), Last::Yes);
  }
  // There will be no answer: the request was cancelled, or was a notification.
  virtual void close() = 0;
  // Ends the response for now; the client comes back for the rest. Does nothing where that is impossible.
  virtual void pause() {}
};

}  // namespace ttyward::rpc
