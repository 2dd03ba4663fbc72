// Calls to the daemon that answer later, and its events. docs/protocol/socket.md has the calls.
//
// Client is one; tests have one that is a script.
//
// Thread rule: the loop thread.
#pragma once

#include <cstdint>
#include <functional>
#include <string>

#include <boost/json/object.hpp>

#include "client/typed_call.h"

namespace ttyward::client {

class Caller {
 public:
  using OnPart = std::function<void(const boost::json::object& part)>;
  using OnDone = std::function<void(CallResult result)>;
  using OnEvent = std::function<void(const boost::json::object& event)>;

  virtual ~Caller() = default;

  // `on_done` is called exactly once, also when the call is cancelled or the daemon goes; it may be called
  // before call() returns. The number is good for cancel().
  virtual uint64_t call(std::string name, boost::json::object args, OnPart on_part, OnDone on_done) = 0;
  template <Request R>
  uint64_t call(const R& request, OnPart on_part, std::function<void(AnswerOf<R>)> on_done) {
    return call(
        std::string(R::kCall), arguments_of(request), std::move(on_part),
        [on_done = std::move(on_done)](CallResult result) { on_done(answer_of<R>(std::move(result))); });
  }
  virtual void cancel(uint64_t call) = 0;
  virtual void on_event(OnEvent handler) = 0;
  // Called whenever a new connection stands: subscriptions have to be made again.
  virtual void on_connected(std::function<void()> handler) = 0;
  // Fails what is open and everything from now on: whoever made the calls is about to go.
  virtual void close() = 0;
};

}  // namespace ttyward::client
