// The daemon as the MCP server sees it.
#pragma once

#include "client/caller.h"

namespace ttyward::mcp {

using client::CallFailure;
using CallReply = client::CallResult;
using Backend = client::Caller;

// A failure that is our own, not the daemon's.
inline CallFailure call_failure(wire::Code code, std::string message) {
  CallFailure failure;
  failure.code = code;
  failure.message = std::move(message);
  return failure;
}

// The two ways in. What an agent does goes over `agent`. `person` exists for one thing: to hand on the answer
// that a person gave in the client's own dialogue; no tool argument ever reaches it. Its role is `dialogue`:
// the daemon takes nothing else from it, and only about questions of the same session.
struct Backends {
  Backend& agent;
  Backend& person;
};

}  // namespace ttyward::mcp
