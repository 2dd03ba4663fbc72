#include "mcp/tools/context.h"

#include <utility>
#include <vector>

#include "mcp/content.h"
#include "mcp/tools/result_text.h"

namespace ttyward::mcp::tools {
namespace {

// How much a profile allows: the less, the stricter.
int allowance(std::string_view profile) {
  if (profile.starts_with("read-only")) return 0;
  if (profile.starts_with("workspace+net")) return 2;
  return profile == "none" ? 3 : 1;
}

}  // namespace

std::string sandbox_problem(const Context& context, const json::object& values, std::string& sandbox) {
  const std::string asked = text_or(values, "sandbox");
  sandbox = asked.empty() ? context.sandbox : asked;
  if (context.sandbox.empty() || asked.empty() || allowance(asked) < allowance(context.sandbox)) return {};
  if (allowance(asked) > allowance(context.sandbox))
    return "The sandbox here is " + context.sandbox + ": leave `sandbox` out, or ask for a stricter one.";
  sandbox = context.sandbox;  // it may have further words, such as an image
  return {};
}

Callback<CallReply> send_call(Context& context, const RequestPtr& request, std::string name,
                              json::object args, Backend::OnPart on_part) {
  Backend& backend = context.backends.agent;
  return Callback<CallReply>([&backend, request, name = std::move(name), args = std::move(args),
                              on_part = std::move(on_part)](Backend::OnDone done) {
    if (request->cancelled())
      return done(tl::unexpected(call_failure(wire::Code::Cancelled, "the call was cancelled")));
    const uint64_t call = backend.call(name, args, on_part, std::move(done));
    if (call != 0) request->on_cancel([&backend, call] { backend.cancel(call); });
  });
}

StartedPtr send_start(Context& context, const RequestPtr& request, std::string name, std::string command_id,
                      json::object args, Backend::OnPart on_part) {
  auto started = std::make_shared<Started>(std::move(command_id));
  context.started.remove_if([](const std::weak_ptr<Started>& each) { return each.expired(); });
  context.started.push_back(started);
  Backend& backend = context.backends.agent;
  // The call keeps it: a modern client may come back for the answer with another request.
  const uint64_t call = backend.call(std::move(name), std::move(args), std::move(on_part),
                                     [started](CallReply reply) { started->answered(std::move(reply)); });
  if (!started->has_answer()) started->call = call;
  request->on_cancel([&backend, started] {
    if (started->call != 0) backend.cancel(started->call);
  });
  return started;
}

namespace {

// Those who are told may start or forget others.
std::vector<StartedPtr> all_started(const Context& context) {
  std::vector<StartedPtr> all;
  for (const std::weak_ptr<Started>& each : context.started) {
    if (StartedPtr started = each.lock()) all.push_back(std::move(started));
  }
  return all;
}

}  // namespace

void asked_about(Context& context, const json::object& approval) {
  for (const StartedPtr& started : all_started(context)) started->asked(approval);
}

void settled_about(Context& context, const json::object& approval) {
  for (const StartedPtr& started : all_started(context)) started->settled(approval);
}

Kind kind_of(std::string_view id) {
  constexpr size_t kIdLength = 13;  // a letter and 12 characters, as base::random_id makes them
  // One of a batch in one shell: the batch's id and its number.
  if (id.size() > kIdLength + 1 && id.front() == 'b' && id[kIdLength] == '-') return Kind::Command;
  if (id.size() != kIdLength) return Kind::Terminal;
  if (id.front() == 'c') return Kind::Command;
  return id.front() == 'a' ? Kind::Approval : Kind::Terminal;
}

json::object failure_result(const CallFailure& failure) {
  std::string text = sentence(visible_text(failure.message));
  if (failure.fate == CallFailure::Fate::NotSent)
    text += "\nThe ttyward daemon cannot be reached. Terminals are kept. Try again.";
  else if (failure.fate == CallFailure::Fate::Unknown)
    text +=
        "\nTerminals are kept. Check with list_terminals whether the call took effect before you try again.";
  else if (failure.code == wire::Code::NotFound)
    text +=
        "\nlist_terminals shows the existing terminals; an id is no longer valid some time after its "
        "terminal or command has ended.";
  if (failure.code == wire::Code::Busy)
    text += "\nWait with wait_for until the running command ends, or open another terminal.";
  return error_result(text);
}

json::object both(const std::string& text, const json::object& structured) {
  json::object result = text_result(text);
  result["structuredContent"] = visible_value(structured);
  return result;
}

}  // namespace ttyward::mcp::tools
