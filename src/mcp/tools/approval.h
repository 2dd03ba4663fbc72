// A command that a person has to allow first: asking through the client's own dialogue, where it has one.
//
//   legacy   the client is asked while the call waits (elicitation/create)
//   modern   the call ends with the question, and comes again with the answer and a state that is good once
//
// Only an explicit yes is a yes: accepted, and "allow…" chosen. An explicit no is handed on as a no.
// Everything else (declined, closed, no answer, a client that answers without asking anybody) leaves the
// question open for people elsewhere, and the model is told how to wait. See docs/mcp.md for whom this
// trusts.
#pragma once

#include <optional>

#include "mcp/request.h"
#include "mcp/tools/context.h"
#include "mcp/tools/started.h"

namespace ttyward::mcp::tools {

enum class Said { Nothing, AllowOnce, AllowSession, Deny };

// What a person said in a dialogue: the result of elicitation/create.
Said what_was_said(const json::object* answer);

// The question: mode, message and schema of elicitation/create.
json::object approval_question(const json::object& approval, const Request& request);

// Follows a command to its Result. If a person has to allow it, they are asked. Null: the request has been
// answered with the question, and will come again.
Task<std::optional<CallReply>> follow(Context& context, RequestPtr request, StartedPtr started);

// A modern request that brings an answer: goes on where follow() left off. Null as above, also when the state
// is none of ours, which has been answered.
Task<std::optional<CallReply>> resume(Context& context, RequestPtr request);

}  // namespace ttyward::mcp::tools
