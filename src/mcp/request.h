// One MCP request being answered: who asked, and in which era of the protocol.
//
// The two eras differ here and in Peer, not in the handlers:
//   legacy (up to 2025-11-25)  a session; the server may ask() the client while it works on an answer
//   modern (2026-07-28)        no session; need_input() ends the request with questions, and the client
//                              sends it again with the answers
//
// Thread rule: the loop thread.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>

#include "mcp/json.h"
#include "rpc/request.h"

namespace ttyward::mcp {

using rpc::Answer;
using rpc::Callback;
using rpc::Detached;
using rpc::Task;
using rpc::Withdraw;

enum class Era { Legacy, Modern };

class Request final : public rpc::Request {
 public:
  Era era = Era::Legacy;
  std::string version;
  json::object client_capabilities;
  std::string client_name;
  std::string log_level;  // what the client wants to hear; empty: nothing
  json::object server_info;
  std::string owner;                    // the legacy session; empty in the modern era
  std::optional<json::object> as_task;  // legacy: the caller wants a task
  // Modern: what need_input() asked was answered elsewhere. May be empty: the client finds out when it comes
  // back.
  std::function<void()> settled;

  // --- ending it; see also fail() and finish()
  void reply(json::object result);
  // Modern: ends with questions. `requests` is key → {method, params}; `state` comes back with the answers.
  void need_input(json::object requests, const std::string& state);

  // --- on the way
  // Only if the client gave a token. `progress` must grow; calls that do not are left out.
  void progress(double progress, std::optional<double> total, const std::string& message);
  bool wants_progress() const;
  void log(std::string_view level, json::value data);

  // --- the client's side
  bool can(std::string_view capability) const {
    return client_capabilities.contains(json::string_view(capability));
  }
  bool can_elicit_form() const;
  bool has_extension(std::string_view name) const;
  // The client's answer to a question of need_input(); null if there is none.
  const json::object* input_response(std::string_view key) const;

 private:
  double last_progress_ = -1;
};

using RequestPtr = std::shared_ptr<Request>;

}  // namespace ttyward::mcp
