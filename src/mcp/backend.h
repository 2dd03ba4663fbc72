// The daemon as the MCP server sees it: calls that answer later, and events. docs/protocol/socket.md has the
// calls.
//
// Thread rule: the loop thread. Every call gets exactly one Done, also when it is cancelled or the daemon
// goes.
#pragma once

#include <cstdint>
#include <functional>
#include <string>

#include <tl/expected.hpp>

#include "mcp/json.h"

namespace ttyward::mcp {

struct CallFailure {
  std::string code;     // as on the wire: "not_found", "denied", "cancelled"…
  std::string message;  // one line that says what to do
};
using CallReply = tl::expected<json::object, CallFailure>;

class Backend {
 public:
  using OnPart = std::function<void(const json::object& part)>;
  using OnDone = std::function<void(CallReply reply)>;
  using OnEvent = std::function<void(const json::object& event)>;

  virtual ~Backend() = default;

  // The number is good for cancel(); 0: the answer was given already. `on_done` may run before call()
  // returns.
  virtual uint64_t call(std::string name, json::object args, OnPart on_part, OnDone on_done) = 0;
  virtual void cancel(uint64_t call) = 0;
  virtual void on_event(OnEvent handler) = 0;
  // Runs whenever a new connection stands: subscriptions have to be made again.
  virtual void on_connected(std::function<void()> handler) = 0;
  // Fails what is open and everything from now on: whoever made the calls is about to go.
  virtual void close() = 0;
};

// The two ways in. What an agent does goes over `agent`. `person` exists for one thing: to hand on the answer
// that a person gave in the client's own dialogue; no tool argument ever reaches it. Its role is `dialogue`:
// the daemon takes nothing else from it, and only about questions of the same session.
struct Backends {
  Backend& agent;
  Backend& person;
};

}  // namespace ttyward::mcp
