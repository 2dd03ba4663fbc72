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

// What the model is told when nobody has said yes so far: the question stays open.
CallReply still_open(const json::object& approval) {
  json::object pending;
  for (const char* same : {"command_id", "terminal_id", "command", "cwd", "verdict"}) {
    const json::value* value = member(approval, same);
    pending[same] = value != nullptr ? *value : json::value();
  }
  pending["state"] = "pending_approval";
  pending["approval"] = text_or(approval, "id");
  pending["output"] = "";
  return pending;
}

// Either the command's answer or the person's.
struct First {
  std::optional<CallReply> reply;
  Answer said;
};

Callback<First> ask_while_it_waits(RequestPtr request, StartedPtr started, json::object question) {
  return Callback<First>([request, started, question](std::function<void(First)> done) {
    request->ask("elicitation/create", question,
                 [done](Answer answer) { done(First{std::nullopt, std::move(answer)}); });
    started->wake([done](Started::News news) { done(First{std::move(news.reply), {}}); });
  });
}

// What comes next, or nothing once the time is over.
Callback<Started::News> next_within(Context& context, StartedPtr started, std::chrono::milliseconds time) {
  io::Loop& loop = context.loop;
  return Callback<Started::News>([&loop, started, time](std::function<void(Started::News)> done) {
    auto timer = std::make_shared<io::Loop::TimerId>(loop.after(time, [done] { done({}); }));
    started->wake([&loop, timer, done](Started::News news) {
      loop.cancel(*timer);
      done(std::move(news));
    });
  });
}

// The model does not wait any longer; the question stays, and so does the command once it is allowed.
CallReply leave(Context& context, const StartedPtr& started) {
  started->wake({});
  if (started->call != 0) context.backends.agent.cancel(started->call);
  return still_open(started->approval);
}

Task<std::optional<CallReply>> act(Context& context, StartedPtr started, Said said) {
  if (said == Said::Nothing) co_return leave(context, started);
  const CallReply answered = co_await hand_on(context, text_or(started->approval, "id"), said);
  if (!answered && answered.error().code == "permission_denied") co_return leave(context, started);
  // Otherwise somebody was faster, or it is too late: the command's own answer tells.
  const Started::News news = co_await started->next();
  co_return news.reply;
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

Task<std::optional<CallReply>> follow(Context& context, RequestPtr request, StartedPtr started) {
  Started::News news = co_await started->next();
  if (news.reply) co_return news.reply;
  if (!request->can_elicit_form()) {
    // A person may be quick on the command line.
    if (started->approval.contains("command_id")) {
      news = co_await next_within(context, started, context.patience);
    } else {
      news = co_await started->next();
    }
    if (news.reply) co_return news.reply;
    co_return leave(context, started);
  }
  json::object question = approval_question(started->approval, *request);
  if (request->era == Era::Modern) {
    json::object ask;
    ask["method"] = "elicitation/create";
    ask["params"] = std::move(question);
    const std::string state = context.states.keep(*request, started);
    json::object questions;
    questions[kKey] = std::move(ask);
    request->need_input(std::move(questions), state);
    co_return std::nullopt;
  }
  const First first = co_await ask_while_it_waits(request, started, std::move(question));
  if (first.reply) co_return first.reply;
  started->wake({});
  const Said said = what_was_said(first.said.result ? &*first.said.result : nullptr);
  co_return co_await act(context, started, said);
}

Task<std::optional<CallReply>> resume(Context& context, RequestPtr request) {
  const auto started = context.states.take(*request);
  if (!started) {
    request->fail(
        rpc::kInvalidParams,
        "requestState was not made here, was used before or is too old: call the tool again without it");
    co_return std::nullopt;
  }
  Backend& agent = context.backends.agent;
  request->on_cancel([&agent, following = *started] {
    if (following->call != 0) agent.cancel(following->call);
  });
  co_return co_await act(context, *started, what_was_said(request->input_response(kKey)));
}

}  // namespace ttyward::mcp::tools
