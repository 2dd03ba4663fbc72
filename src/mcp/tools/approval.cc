#include "mcp/tools/approval.h"

#include <fmt/format.h>

#include <utility>

#include "mcp/tools/visible_text.h"
#include "rpc/message.h"
#include "wire/types/policy_calls.h"

namespace ttyward::mcp::tools {
namespace {

constexpr const char* kKey = "approval";
constexpr size_t kMostReasons = 6;

// The only use of the dialogue's connection.
Callback<CallReply> hand_on(Context& context, const std::string& approval, Said said) {
  Backend& person = context.backends.person;
  wire::AnswerRequest answer;
  answer.approval = approval;
  answer.decision = said == Said::Deny ? wire::AnswerWord::Deny : wire::AnswerWord::Allow;
  if (said == Said::AllowSession) answer.always = wire::Always::Session;
  answer.reason = "answered in the dialogue of the MCP client";
  return Callback<CallReply>([&person, answer](Backend::OnDone done) {
    person.call(std::string(answer.kCall), client::arguments_of(answer), {}, std::move(done));
  });
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

// Either what became of the command and its question, or what the person said.
struct First {
  Started::News news;
  std::optional<Answer> said;
};

// Asks while the call waits. What happens elsewhere takes the question back.
Callback<First> ask_while_it_waits(const RequestPtr& request, const StartedPtr& started,
                                   json::object question) {
  return Callback<First>(
      [request, started, question = std::move(question)](const std::function<void(First)>& done) {
        const auto said = std::make_shared<bool>(false);
        const Withdraw withdraw =
            request->ask("elicitation/create", question, [started, done, said](Answer answer) {
              *said = true;
              started->wake({});
              done(First{{}, std::move(answer)});
            });
        if (*said) return;  // nobody could be asked
        started->wake([withdraw, done](Started::News news) {
          withdraw();
          done(First{std::move(news), std::nullopt});
        });
      });
}

// What comes next, or nothing once the time is over.
Callback<Started::News> next_within(Context& context, const StartedPtr& started,
                                    std::chrono::milliseconds time) {
  io::Loop& loop = context.loop;
  return Callback<Started::News>([&loop, started, time](const std::function<void(Started::News)>& done) {
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

// Hands on what a person said. False: nobody said yes or no, or the daemon does not take it from us.
Task<bool> act(Context& context, StartedPtr started, Said said) {
  if (said == Said::Nothing) co_return false;
  const CallReply answered = co_await hand_on(context, text_or(started->approval, "id"), said);
  // Anything else means that somebody was faster, or that it is too late: the command's own answer tells.
  co_return answered || answered.error().code != wire::Code::PermissionDenied;
}

// Ends a modern request with the question; it comes again with the answer.
void ask_and_end(Context& context, const RequestPtr& request, const StartedPtr& started) {
  json::object ask;
  ask["method"] = "elicitation/create";
  ask["params"] = approval_question(started->approval, *request);
  json::object questions;
  questions[kKey] = std::move(ask);
  const std::string state = context.states.keep(*request, questions, started);
  if (request->settled) {
    io::Loop& loop = context.loop;
    started->on_settled([&loop, settled = request->settled] { loop.post(settled); });
  }
  request->need_input(std::move(questions), state);
}

// Goes on from `news` to the command's answer, asking as often as it is asked about: a daemon that died in
// between asks again.
Task<std::optional<CallReply>> settle(Context& context, RequestPtr request, StartedPtr started,
                                      Started::News news) {
  for (;;) {
    if (news.reply) co_return news.reply;
    if (!news.question) {
      news = co_await started->next();
      continue;
    }
    if (!request->can_elicit_form()) {
      // A person may be quick on the command line.
      news = co_await next_within(context, started, context.patience);
      if (!news.reply && !news.question && !news.settled) co_return leave(context, started);
      continue;
    }
    if (request->era == Era::Modern) {
      ask_and_end(context, request, started);
      co_return std::nullopt;
    }
    json::object question = approval_question(started->approval, *request);
    First first = co_await ask_while_it_waits(request, started, std::move(question));
    if (!first.said) {
      news = std::move(first.news);
      continue;
    }
    const Said said = what_was_said(first.said->object());
    const bool acted = co_await act(context, started, said);
    if (!acted && started->is_asked()) co_return leave(context, started);
    news = co_await started->next();
  }
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
  // The same narrow rule that `ttyward approvals always` would store.
  std::string rules;
  const json::array* words = array_at(approval, "always_words");
  for (size_t i = 0; words != nullptr && i < words->size(); i++) {
    if (const json::string* text = (*words)[i].if_string())
      rules += (rules.empty() ? "" : "; ") + visible_line(std::string(*text), 300);
  }
  if (rules.empty()) {
    decision["enum"] = json::array{"deny", "allow_once"};
  } else {
    const bool critical = text_or(approval, "always_scope") == "session";
    message += fmt::format("\n{}allow_session stores a rule until the agent's session ends: it {}",
                           critical ? "This is critical. " : "", rules);
    decision["description"] =
        "allow_session: run the same command again without asking, until the agent's session ends";
    decision["enum"] = json::array{"deny", "allow_once", "allow_session"};
  }
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
  co_return co_await settle(context, request, started, std::move(news));
}

Task<std::optional<CallReply>> resume(Context& context, RequestPtr request) {
  const auto taken = context.states.take(*request);
  if (!taken) {
    request->fail(
        rpc::kInvalidParams,
        "requestState is not valid, was used before or has expired: call the tool again without it");
    co_return std::nullopt;
  }
  const StartedPtr& started = *taken;
  started->on_settled({});
  Backend& agent = context.backends.agent;
  request->on_cancel([&agent, started] {
    if (started->call != 0) agent.cancel(started->call);
  });
  const bool acted = co_await act(context, started, what_was_said(request->input_response(kKey)));
  if (!acted && started->is_asked()) co_return leave(context, started);
  Started::News news = co_await started->next();
  co_return co_await settle(context, request, started, std::move(news));
}

}  // namespace ttyward::mcp::tools
