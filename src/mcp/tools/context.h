// What the tools work with, and how they call the daemon.
#pragma once

#include <chrono>
#include <list>
#include <memory>
#include <string>

#include "io/loop.h"
#include "mcp/backend.h"
#include "mcp/pending_states.h"
#include "mcp/request.h"
#include "mcp/tools/roots.h"
#include "mcp/tools/started.h"

namespace ttyward::mcp::tools {

struct Context {
  io::Loop& loop;
  Backends backends;
  Roots roots;
  std::string session;
  std::chrono::milliseconds patience{
      10'000};  // with a person who may answer elsewhere, before the model is told
  // NOLINTBEGIN(readability-redundant-member-init): who makes one leaves these out.
  PendingStates<StartedPtr> states{};
  std::list<std::weak_ptr<Started>> started{};  // whom questions may be about
  // NOLINTEND(readability-redundant-member-init)
};

// A call to the daemon that is taken back when the client cancels the request.
Callback<CallReply> call_daemon(Context& context, const RequestPtr& request, std::string name,
                                json::object args, Backend::OnPart on_part = {});

// Starts a command by `run` or `exec`. Taken back when the client cancels the request.
StartedPtr start_command(Context& context, const RequestPtr& request, std::string name, json::object args,
                         Backend::OnPart on_part);
// A question was opened, or is over: for the command it is about.
void asked_about(Context& context, const json::object& approval);
void settled_about(Context& context, const json::object& approval);

// Which kind of thing an id names: "terminal", "command" or "approval". A terminal may go by its name too.
const char* kind_of(std::string_view id);

// A call that failed, as a tool result: what the daemon said, and what to do about it.
json::object failure_result(const CallFailure& failure);

// A text and the object it was made from.
json::object both(const std::string& text, const json::object& structured);

}  // namespace ttyward::mcp::tools
