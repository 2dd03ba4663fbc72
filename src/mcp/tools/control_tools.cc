// wait_for, interrupt_command, check_command.
#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <utility>

#include "mcp/content.h"
#include "mcp/tools/progress.h"
#include "mcp/tools/result_text.h"
#include "mcp/tools/tool.h"
#include "wire/types/command_calls.h"
#include "wire/types/policy_calls.h"
#include "wire/types/watching_calls.h"

namespace ttyward::mcp::tools {
namespace {

using Type = Argument::Type;

constexpr int64_t kWaitMs = 50'000;

// For the daemon no time at all means for ever.
std::chrono::milliseconds left_until(std::chrono::steady_clock::time_point until) {
  const auto left =
      std::chrono::duration_cast<std::chrono::milliseconds>(until - std::chrono::steady_clock::now());
  return std::max(std::chrono::milliseconds(1), left);
}

std::string waited_text(const json::object& waited) {
  const std::string condition = text_or(waited, "condition");
  std::string text;
  if (condition == "timeout") {
    text = "Timed out: none of the conditions is met yet. Wait again, or check with read_output.\n";
  } else if (condition == "pattern") {
    const json::object* match = object_at(waited, "match");
    text = match != nullptr ? fmt::format("Line {} matches.\n", integer_at(*match, "line").value_or(0)) +
                                  Fence().around("line", visible_text(text_or(*match, "text")))
                            : "It matches.\n";
  } else if (condition == "port") {
    text = fmt::format("Port {} is open.\n", integer_at(waited, "port").value_or(0));
  } else if (condition == "file") {
    text = fmt::format("The file exists: {}\n", visible_line(text_or(waited, "file"), 300));
  } else if (const json::object* approval = object_at(waited, "approval")) {
    text = fmt::format("The question {} is {}.{}\n", text_or(*approval, "id"), text_or(*approval, "state"),
                       text_or(*approval, "reason").empty()
                           ? ""
                           : " " + sentence(visible_line(text_or(*approval, "reason"), 300)));
  } else {
    text = fmt::format("Over: {}.\n", condition.empty() ? "done" : visible_line(condition, 60));
  }
  if (const json::object* result = object_at(waited, "result")) return text + result_text(*result, Fence());
  if (const json::object* terminal = object_at(waited, "terminal"))
    return text + terminal_line(*terminal) + "\n";
  return text;
}

json::object lean_outcome(const json::object& waited) {
  json::object out;
  for (const auto& [name, value] : waited) {
    if (name == "result" && value.is_object()) {
      out[name] = lean_result(value.get_object());
    } else if (name == "terminal" && value.is_object()) {
      // What is said of a command says enough of its terminal.
      if (object_at(waited, "result") == nullptr) out[name] = lean_terminal(value.get_object());
    } else if (!value.is_null()) {
      out[name] = lean_value(value);
    }
  }
  return out;
}

Detached wait_for(Context& context, RequestPtr request, json::object values) {
  const std::string id = text_or(values, "id");
  wire::WaitRequest wait;
  set_target(wait, id);
  wait.exit = flag_at(values, "exit");
  wait.input = flag_at(values, "input");
  wait.prompt = flag_at(values, "prompt");
  wait.pattern = text_or(values, "pattern");
  wait.file = text_or(values, "file");
  wait.port = integer_at(values, "port");
  wait.quiet = std::chrono::milliseconds(integer_at(values, "quiet_ms").value_or(0));
  const bool chosen = wait.exit || wait.input || wait.prompt || values.contains("pattern") ||
                      values.contains("file") || wait.port || wait.quiet.count() > 0;
  if (!chosen && wait.approval.empty()) {
    wait.exit = wait.input = true;
    wait.prompt = !wait.terminal.empty();
  }
  if (flag_at(values, "from_start")) wait.from = wire::WaitFrom::Start;
  const auto until = std::chrono::steady_clock::now() +
                     std::chrono::milliseconds(integer_at(values, "timeout_ms").value_or(kWaitMs));
  wait.timeout = left_until(until);
  wait.only_new = !wants_detail(values);
  add_view(values, wait.view);
  const auto progress = Progress::start(request);
  // Named first: GCC 12 destroys a closure twice that is made inside a co_await.
  Callback<CallReply> call =
      call_daemon(context, request, wait, [progress](const json::object& part) { progress->part(part); });
  CallReply reply = co_await call;
  if (!reply) {
    request->reply(failure_result(reply.error()));
    co_return;
  }
  // A person said yes: now it is the command that is waited for.
  const json::object* approval = object_at(*reply, "approval");
  if (approval != nullptr && text_or(*approval, "state") == "allowed" &&
      !text_or(*approval, "command_id").empty()) {
    wire::WaitRequest command;
    command.command = text_or(*approval, "command_id");
    command.exit = true;
    command.input = true;
    command.timeout = left_until(until);
    command.only_new = wait.only_new;
    add_view(values, command.view);
    CallReply after = co_await call_daemon(context, request, command);
    if (after) reply = std::move(after);
  }
  json::object out = both(waited_text(*reply), wants_detail(values) ? *reply : lean_outcome(*reply));
  const json::object* result = object_at(*reply, "result");
  if (result != nullptr && did_not_run(*result)) out["isError"] = true;
  request->reply(std::move(out));
}

Detached interrupt_command(Context& context, RequestPtr request, json::object values) {
  wire::InterruptRequest interrupt;
  set_target(interrupt, text_or(values, "id"));
  const CallReply reply = co_await call_daemon(context, request, interrupt);
  if (!reply) {
    request->reply(failure_result(reply.error()));
    co_return;
  }
  request->reply(both(flag_at(*reply, "interrupted")
                          ? "Interrupted (as by Ctrl-C). wait_for shows how it ended. If the program ignores "
                            "it, kill_persistent_terminal ends it."
                          : "Nothing was running there.",
                      *reply));
}

Detached check_command(Context& context, RequestPtr request, json::object values) {
  const auto folder = context.roots.resolve(text_at(values, "cwd"));
  if (!folder) {
    request->reply(error_result(folder.error().message + "."));
    co_return;
  }
  wire::CheckRequest check;
  check.command = text_or(values, "command");
  check.cwd = *folder;
  const CallReply reply = co_await call_daemon(context, request, check);
  if (!reply) {
    request->reply(failure_result(reply.error()));
    co_return;
  }
  const std::string decision = text_or(*reply, "decision");
  std::string text = decision == "allow"  ? "It would run"
                     : decision == "deny" ? "It would be denied"
                                          : "A person would be asked first";
  text += fmt::format(" (risk {}).\n", text_or(*reply, "risk", "unknown"));
  if (const json::array* reasons = array_at(*reply, "reasons")) {
    for (const json::value& entry : *reasons) {
      if (const json::object* reason = entry.if_object())
        text += "- " + visible_line(text_or(*reason, "text"), 200) + "\n";
    }
  }
  json::object structured = *reply;
  if (!wants_detail(values)) {
    structured = lean_value(structured).as_object();
    structured.erase("commands");
  }
  request->reply(both(text, structured));
}

}  // namespace

std::vector<Tool> control_tools() {
  return {
      {"wait_for",
       "Wait for something to happen",
       "Wait until a command ends, a program asks for input, a line matches, a port opens, a file appears, "
       "or "
       "a person has answered an approval; returns what is new. Use it instead of polling.",
       with_view(
           {id_argument("Of a command, terminal or approval"),
            {.name = "exit", .type = Type::Flag, .description = "", .fallback = 0},
            {.name = "input", .type = Type::Flag, .description = "", .fallback = 0},
            {.name = "prompt", .type = Type::Flag, .description = "", .fallback = 0},
            {.name = "pattern", .type = Type::Text, .description = "RE2"},
            {.name = "from_start",
             .type = Type::Flag,
             .description = "pattern: earlier lines, too",
             .fallback = 0},
            {.name = "port", .type = Type::Integer, .description = "0: any", .least = 0, .most = 65'535},
            {.name = "file", .type = Type::Text, .description = ""},
            {.name = "quiet_ms",
             .type = Type::Integer,
             .description = "Nothing was printed for so long",
             .least = 1,
             .most = 600'000},
            {.name = "timeout_ms",
             .type = Type::Integer,
             .description = "Default 50000",
             .fallback = kWaitMs,
             .least = 0,
             .most = 600'000,
             .aliases = {"wait_ms"}}}),
       {.read_only = true, .destructive = false, .idempotent = true, .open_world = false},
       any_schema,
       TaskSupport::Optional,
       wait_for},
      {"interrupt_command",
       "Interrupt a command",
       "Interrupt the running command, as Ctrl-C does.",
       {id_argument("Of a command or terminal")},
       {.read_only = false, .destructive = true, .idempotent = true, .open_world = false},
       any_schema,
       TaskSupport::Never,
       interrupt_command},
      {"check_command",
       "Check a command without running it",
       "Say whether a command would run, be denied, or need a person's approval, and why. Runs nothing.",
       {{.name = "command", .type = Type::Text, .description = "", .required = true},
        {.name = "cwd", .type = Type::Text, .description = ""},
        {.name = "detail", .type = Type::Flag, .description = "", .fallback = 0, .told = false}},
       {.read_only = true, .destructive = false, .idempotent = true, .open_world = false},
       any_schema,
       TaskSupport::Never,
       check_command},
  };
}

}  // namespace ttyward::mcp::tools
