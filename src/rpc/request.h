// One request of the other side, being answered.
//
// A handler keeps a shared_ptr to it and ends it once, by reply(), fail() or finish(). What is said after
// that, or after the other side cancelled the request, is discarded. A protocol that knows more about a
// request derives from it.
//
// Thread rule: the loop thread.
#pragma once

#include <chrono>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "io/loop.h"
#include "rpc/async.h"
#include "rpc/json.h"

namespace ttyward::rpc {

// What came back from a request of ours. No result: it could not be sent, or the answer is an error.
struct Answer {
  std::optional<json::value> result;
  int code = 0;  // of the error the other side answered with; 0: there is none
  std::string error;

  static Answer failed(std::string why) { return {std::nullopt, 0, std::move(why)}; }
  const json::object* object() const { return result ? result->if_object() : nullptr; }
};
using OnAnswer = std::function<void(Answer)>;

// Cancels a request that we sent: the other side is told that no answer is needed, and the callback is not
// called.
using Withdraw = std::function<void()>;

class Request : public std::enable_shared_from_this<Request> {
 public:
  // What a request needs from whoever carries it.
  struct Carrier {
    std::function<void(json::object response)> finish;
    std::function<void(json::object notification)> notify;
    std::function<void()> dropped;  // cancelled: there will be no answer. May be empty
    std::function<void()> pause;    // ends the response for now, where the client can come back. May be empty
    // Sends a request to the other side, as part of this one. Empty if there is no way.
    std::function<Withdraw(std::string method, json::object params, OnAnswer done)> ask;
  };

  virtual ~Request() = default;

  json::value id;
  std::string method;
  json::object params;
  io::Loop* loop = nullptr;
  Carrier carrier;
  // A stream that stays open until one side ends it. Nobody waits for its answer at the end.
  bool is_stream = false;

  // --- ending it
  void reply(json::value result);
  void fail(int code, std::string_view message, json::object data = {});
  // Ends with an answer that was made elsewhere.
  void finish(json::object response);
  bool done() const { return done_; }

  // --- on the way
  Callback<Answer> ask(std::string ask_method, json::object ask_params);
  // The same for callers that wait for something else, too. `done` is called once.
  Withdraw ask(std::string ask_method, json::object ask_params, const OnAnswer& done);
  // False: cancelled meanwhile.
  Callback<bool> sleep(std::chrono::milliseconds delay);

  // --- cancellation, from outside
  void cancel();
  bool cancelled() const { return cancelled_; }
  // Runs when it is cancelled; at once if it already is. Forgotten when the request ends.
  void on_cancel(std::function<void()> hook);

 private:
  bool done_ = false;
  bool cancelled_ = false;
  std::vector<std::function<void()>> cancel_hooks_;
};

using RequestPtr = std::shared_ptr<Request>;

}  // namespace ttyward::rpc
