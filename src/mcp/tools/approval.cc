#include "mcp/tools/approval.h"

#include <fmt/format.h>

#include <utility>

#include "mcp/rpc.h"
#include "mcp/tools/visible_text.h"

namespace ttyward::mcp::tools {
namespace {

constexpr const char* kKey = "approval";
constexpr size_t kMostReasons = 6;

// The only use of the person's connection.
Callback<CallReply> hand_on(Context& context, std::string approval, Said said) {
  Backend& person = context.backends.person;
  json::object args;
  args["approval"] = approval;
  args["decision"] = said == Said::Deny ? "deny" : "allow";
  if (said == Said::AllowSession) args["always"] = "session";
  args["reason"] = "answered in the dialogue of the MCP client";
  return Callback<CallReply>(
      [&person, args](Backend::OnDone done) { person.call("answer", args, {}, std::move(done)); });
}

Task<json::object> find_approval(Context& context, RequestPtr request, json::object result) {
  const std::string id = text_or(result, "approval");
  const CallReply reply = co_await call_daemon(context, request, "approvals", {});
  const json::array* approvals = reply ? array_at(*reply, "approvals") : nullptr;
  if (approvals != nullptr) {
    for (const json::value& entry : *approvals) {
      const json::object* approval = entry.if_object();
      if (approval != nullptr && text_or(*approval, "id") == id) co_return *approval;
    }
  }
  json::object known;
  known["id"] = id;
  known["command"] = text_or(result, "command");
  known["cwd"] = text_or(result, "cwd");
  co_return known;
}

// After the answer: what became of the command.
Task<CallReply> outcome(Context& context, RequestPtr request, std::string approval, std::string command,
                        int64_t wait_ms) {
  json::object args;
  if (command.empty()) {
    args["approval"] = approval;
  } else {
    args["command"] = command;
    args["exit"] = true;
    args["input"] = true;
  }
  args["timeout_ms"] = wait_ms;
  const CallReply waited = co_await call_daemon(context, request, "wait", std::move(args));
  if (!waited) co_return waited;
  if (const json::object* result = object_at(*waited, "result")) co_return *result;
  if (command.empty())
    co_return tl::unexpected(CallFailure{"unavailable", "the daemon did not say what became of the command"});
  json::object ask;
  ask["command"] = command;
  co_return co_await call_daemon(context, request, "result", std::move(ask));
}

Task<std::optional<CallReply>> act(Context& context, RequestPtr request, json::object pending, Said said,
                                   int64_t wait_ms) {
  const std::string approval = text_or(pending, "approval");
  if (said == Said::Nothing) co_return CallReply(std::move(pending));
  const CallReply answered = co_await hand_on(context, approval, said);
  // Somebody was faster, or its time is over: what became of it is still the answer.
  if (!answered && answered.error().code == "permission_denied") co_return CallReply(std::move(pending));
  co_return co_await outcome(context, request, approval, text_or(pending, "command_id"), wait_ms);
}

}  // namespace

Said what_was_said(const json::object* answer) {
  if (answer == nullptr || text_or(*answer, "action") != "accept") return Said::Nothing;
  const json::object* content = object_at(*answer, "content");
  const std::string decision = content != nullptr ? text_or(*content, "decision") : "";
  if (decision == "allow_once") return Said::AllowOnce;
  if (decision == "allow_session") return Said::AllowSession;
  return decision == "deny" ? Said::Deny : Said::Nothing;
}

json::object approval_question(const json::object& approval, const Request& request) {
  std::string shown = text_or(approval, "shown");
  if (shown.empty()) shown = visible_text(text_or(approval, "command"));
  std::string message = fmt::format("An agent wants to run this command:\n\n{}\n\nin {}", shown,
                                    visible_line(text_or(approval, "cwd", "an unknown folder"), 300));
  if (const json::object* verdict = object_at(approval, "verdict")) {
    message += fmt::format("\nRisk: {}", text_or(*verdict, "risk", "unknown"));
    const json::array* reasons = array_at(*verdict, "reasons");
    for (size_t i = 0; reasons != nullptr && i < reasons->size() && i < kMostReasons; i++) {
      if (const json::object* reason = (*reasons)[i].if_object())
        message += "\n- " + visible_line(text_or(*reason, "text"), 200);
    }
  }
  json::object decision;
  decision["type"] = "string";
  decision["title"] = "Decision";
  decision["description"] = "allow_session: this and commands like it, until the agent's session ends";
  decision["enum"] = json::array{"deny", "allow_once", "allow_session"};
  if (request.version >= "2025-11-25") decision["default"] = "deny";
  json::object schema;
  schema["type"] = "object";
  schema["properties"] = json::object{{"decision", std::move(decision)}};
  schema["required"] = json::array{"decision"};
  json::object params;
  if (request.version >= "2025-11-25") params["mode"] = "form";
  params["message"] = message;
  params["requestedSchema"] = std::move(schema);
  return params;
}

Task<std::optional<CallReply>> settle(Context& context, RequestPtr request, CallReply reply,
                                      int64_t wait_ms) {
  if (!reply || text_or(*reply, "state") != "pending_approval" || !request->can_elicit_form())
    co_return std::move(reply);
  json::object pending = *reply;
  const json::object approval = co_await find_approval(context, request, pending);
  json::object question = approval_question(approval, *request);
  if (request->era == Era::Modern) {
    json::object kept;
    kept["approval"] = text_or(pending, "approval");
    kept["pending"] = pending;
    json::object ask;
    ask["method"] = "elicitation/create";
    ask["params"] = std::move(question);
    request->need_input(json::object{{kKey, std::move(ask)}}, context.states.keep(*request, std::move(kept)));
    co_return std::nullopt;
  }
  const Answer answer = co_await request->ask("elicitation/create", std::move(question));
  const Said said = what_was_said(answer.result ? &*answer.result : nullptr);
  co_return co_await act(context, request, std::move(pending), said, wait_ms);
}

Task<std::optional<CallReply>> resume(Context& context, RequestPtr request, int64_t wait_ms) {
  const auto kept = context.states.take(*request);
  if (!kept) {
    request->fail(
        rpc::kInvalidParams,
        "requestState was not made here, was used before or is too old: call the tool again without it");
    co_return std::nullopt;
  }
  const json::object* pending = object_at(*kept, "pending");
  const Said said = what_was_said(request->input_response(kKey));
  co_return co_await act(context, request, *pending, said, wait_ms);
}

}  // namespace ttyward::mcp::tools
