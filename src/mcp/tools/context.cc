#include "mcp/tools/context.h"

#include <utility>

#include "mcp/content.h"
#include "mcp/tools/result_text.h"

namespace ttyward::mcp::tools {

Callback<CallReply> call_daemon(Context& context, const RequestPtr& request, std::string name,
                                json::object args, Backend::OnPart on_part) {
  Backend& backend = context.backends.agent;
  return Callback<CallReply>([&backend, request, name, args, on_part](Backend::OnDone done) {
    if (request->cancelled()) return done(tl::unexpected(CallFailure{"cancelled", "the call was cancelled"}));
    const uint64_t call = backend.call(name, args, on_part, std::move(done));
    if (call != 0) request->on_cancel([&backend, call] { backend.cancel(call); });
  });
}

const char* kind_of(std::string_view id) {
  constexpr size_t kIdLength = 13;  // a letter and 12 characters, as base::random_id makes them
  if (id.size() != kIdLength) return "terminal";
  if (id.front() == 'c') return "command";
  return id.front() == 'a' ? "approval" : "terminal";
}

json::object failure_result(const CallFailure& failure) {
  std::string text = visible_text(failure.message);
  if (failure.code == "not_found")
    text += "\nlist_terminals shows the terminals there are; ids end with what they name.";
  if (failure.code == "busy")
    text += "\nWait for the command that runs there with wait_for, or open another terminal.";
  return error_result(text);
}

json::object both(std::string text, const json::object& structured) {
  json::object result = text_result(text);
  result["structuredContent"] = visible_value(structured);
  return result;
}

}  // namespace ttyward::mcp::tools
