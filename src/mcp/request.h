// One request being answered: who asked, in which era of the protocol, and where the answer goes.
//
// A handler keeps a shared_ptr to it and ends it by reply(), fail() or need_input(), once; what comes after
// that, or after the client has cancelled, goes nowhere. The two eras differ here and
// in Peer, not in the handlers:
//   legacy (up to 2025-11-25)  a session; the server may ask() the client while it works on an answer
//   modern (2026-07-28)        no session; need_input() ends the request with questions, and the client
//                              sends it again with the answers
//
// Thread rule: the loop thread.
#pragma once

#include <chrono>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "io/loop.h"
#include "mcp/async.h"
#include "mcp/json.h"

namespace ttyward::mcp {

enum class Era { Legacy, Modern };

// What came back from asking the client. No result: it could not be asked, or it answered with an error.
struct Answer {
  std::optional<json::object> result;
  std::string error;
};

// Takes a question back: the client is told that no answer is wanted any more, and nobody is called with one.
using Withdraw = std::function<void()>;

class Request : public std::enable_shared_from_this<Request> {
 public:
  // What a request needs from whoever carries it.
  struct Carrier {
    std::function<void(json::object response)> finish;
    std::function<void(json::object notification)> notify;
    std::function<void()> dropped;  // cancelled: there will be no answer. May be empty
    std::function<void()> pause;    // ends the response for now, where the client can come back. May be empty
    // Legacy only: sends a request to the client. Empty if there is no way.
    std::function<Withdraw(std::string method, json::object params, std::function<void(Answer)> done)> ask;
    // Modern: what need_input() asked was answered elsewhere. May be empty: the client finds out when it
    // comes back.
    std::function<void()> settled;
  };

  json::value id;
  std::string method;
  json::object params;
  Era era = Era::Legacy;
  std::string version;
  json::object client_capabilities;
  std::string client_name;
  std::string log_level;  // what the client wants to hear; empty: nothing
  json::object server_info;
  std::string owner;  // the legacy session; empty in the modern era
  io::Loop* loop = nullptr;
  Carrier carrier;
  std::optional<json::object> as_task;  // legacy: the caller wants a task

  // --- ending it
  void reply(json::object result);
  void fail(int code, std::string_view message, json::object data = {});
  // Modern: ends with questions. `requests` is key → {method, params}; `state` comes back with the answers.
  void need_input(json::object requests, const std::string& state);
  // Ends with an answer that another request of the same id and era made.
  void finish(json::object response) { end(std::move(response)); }
  bool done() const { return done_; }

  // --- on the way
  // Only if the client gave a token. `progress` must grow; calls that do not are left out.
  void progress(double progress, std::optional<double> total, const std::string& message);
  bool wants_progress() const;
  void log(std::string_view level, json::value data);
  Callback<Answer> ask(std::string ask_method, json::object ask_params);
  // The same for callers that wait for something else, too. `done` is called once.
  Withdraw ask(std::string ask_method, json::object ask_params, const std::function<void(Answer)>& done);
  // False: cancelled meanwhile.
  Callback<bool> sleep(std::chrono::milliseconds delay);

  // --- the client's side
  bool can(std::string_view capability) const {
    return client_capabilities.contains(json::string_view(capability));
  }
  bool can_elicit_form() const;
  bool has_extension(std::string_view name) const;
  // The client's answer to a question of need_input(); null if there is none.
  const json::object* input_response(std::string_view key) const;

  // --- cancellation, from outside
  void cancel();
  bool cancelled() const { return cancelled_; }
  // Runs when it is cancelled; at once if it already is. Forgotten when the request ends.
  void on_cancel(std::function<void()> hook);

 private:
  void end(json::object response);

  bool done_ = false;
  bool cancelled_ = false;
  double last_progress_ = -1;
  std::vector<std::function<void()>> cancel_hooks_;
};

using RequestPtr = std::shared_ptr<Request>;

}  // namespace ttyward::mcp
