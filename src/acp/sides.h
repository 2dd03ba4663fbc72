// Both sides of a proxied conversation, as the parts of the proxy see them.
//
// Each side has ids of its own. A request of the agent keeps its id, and is answered with it; a request that
// the proxy makes has an id that nobody can guess, and its answer reaches nobody else.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>

#include "acp/message_id.h"
#include "io/loop.h"
#include "rpc/json.h"
#include "rpc/request.h"

namespace ttyward::acp {

namespace json = rpc::json;

inline constexpr int kNotFound = -32002;  // a session, terminal or file that is not there

// A request of the agent that we answer.
using AgentId = MessageId;

class Sides {
 public:
  virtual ~Sides() = default;

  virtual io::Loop& loop() = 0;
  virtual void answer_agent(const AgentId& id, json::value result) = 0;
  virtual void refuse_agent(const AgentId& id, int code, std::string_view message,
                            json::object data = {}) = 0;
  virtual void tell_editor(std::string_view method, json::object params) = 0;
  // The number is good for withdraw().
  virtual uint64_t ask_editor(std::string_view method, json::object params, rpc::OnAnswer done) = 0;
  // The editor is told that no answer is needed; `done` is not called.
  virtual void withdraw(uint64_t asked) = 0;
  // The agent does not read what it is sent: large answers wait.
  virtual bool agent_is_behind() const = 0;
  // For whoever looks for what went wrong.
  virtual void log(const std::string& text) = 0;
};

}  // namespace ttyward::acp
