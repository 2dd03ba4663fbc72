// What the tools work with, and how they call the daemon.
#pragma once

#include <chrono>
#include <list>
#include <memory>
#include <string>

#include "base/ids.h"
#include "io/loop.h"
#include "mcp/backend.h"
#include "mcp/pending_states.h"
#include "mcp/request.h"
#include "mcp/tools/roots.h"
#include "mcp/tools/started.h"

namespace ttyward::mcp::tools {

struct Context;
// What the templates below come down to.
Callback<CallReply> send_call(Context& context, const RequestPtr& request, std::string name,
                              json::object args, Backend::OnPart on_part);
StartedPtr send_start(Context& context, const RequestPtr& request, std::string name, std::string command_id,
                      json::object args, Backend::OnPart on_part);

struct Context {
  io::Loop& loop;
  Backends backends;
  Roots roots;
  std::string session;
  std::chrono::milliseconds patience{
      10'000};  // with a person who may answer elsewhere, before the model is told
  std::chrono::milliseconds wait{
      50'000};  // for a command's end: below the minute after which some clients give up
  // NOLINTBEGIN(readability-redundant-member-init): who makes one leaves these out.
  std::string sandbox{};  // the profile that confines every command at least; empty: as configured
  PendingStates<StartedPtr> states{};
  std::list<std::weak_ptr<Started>> started{};  // whom questions may be about
  // NOLINTEND(readability-redundant-member-init)
};

// Sets `sandbox` to the profile that a tool's caller gets. Empty: fine.
std::string sandbox_problem(const Context& context, const json::object& values, std::string& sandbox);

// A call to the daemon that is taken back when the client cancels the request. Its answer is handed on to
// clients as the daemon wrote it.
template <client::Request R>
Callback<CallReply> call_daemon(Context& context, const RequestPtr& request, const R& call,
                                Backend::OnPart on_part = {}) {
  return send_call(context, request, std::string(R::kCall), client::arguments_of(call), std::move(on_part));
}

// With nothing but defaults. Do not write the request as a temporary next to co_await: GCC 12 destroys such
// an aggregate twice.
template <client::Request R>
Callback<CallReply> call_daemon(Context& context, const RequestPtr& request) {
  return call_daemon(context, request, R());
}

// Starts a command by `run` or `exec`. Taken back when the client cancels the request.
template <client::Request R>
StartedPtr start_command(Context& context, const RequestPtr& request, R call, Backend::OnPart on_part) {
  call.command_id = base::random_id('c');
  return send_start(context, request, std::string(R::kCall), call.command_id, client::arguments_of(call),
                    std::move(on_part));
}
// A question was opened, or is over: for the command it is about.
void asked_about(Context& context, const json::object& approval);
void settled_about(Context& context, const json::object& approval);

// Which kind of thing an id names. A terminal may go by its name too.
enum class Kind : uint8_t { Terminal, Command, Approval };
Kind kind_of(std::string_view id);
// Puts the id where the call takes it. For a call that knows no approvals, there is no terminal of that name.
template <client::Request R>
void set_target(R& call, const std::string& id) {
  const Kind kind = kind_of(id);
  if constexpr (requires { call.approval; }) {
    if (kind == Kind::Approval) return void(call.approval = id);
  }
  (kind == Kind::Command ? call.command : call.terminal) = id;
}

// A call that failed, as a tool result: what the daemon said, and what to do about it.
json::object failure_result(const CallFailure& failure);

// A text and the object it was made from.
json::object both(const std::string& text, const json::object& structured);

}  // namespace ttyward::mcp::tools
