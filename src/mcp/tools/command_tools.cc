// run_command, run_persistent_command, run_batch: the tools that start commands.
#include <fmt/format.h>

#include <chrono>
#include <utility>

#include "mcp/content.h"
#include "mcp/tools/approval.h"
#include "mcp/tools/progress.h"
#include "mcp/tools/result_text.h"
#include "mcp/tools/tool.h"
#include "wire/types/command_calls.h"

namespace ttyward::mcp::tools {
namespace {

constexpr int64_t kRunWaitMs = 50'000;      // below the minute after which some clients give up
constexpr int64_t kBackgroundWaitMs = 300;  // long enough to see a command fail at once
constexpr int64_t kMostWaitMs = 600'000;
constexpr int64_t kMostTimeMs = 7 * 24 * 3'600'000ll;

using Type = Argument::Type;

Argument command_argument() {
  return {.name = "command",
          .type = Type::Text,
          .description = "The command line, as for bash",
          .required = true};
}

Argument wait_argument(const char* description, std::optional<int64_t> fallback) {
  return {.name = "wait_ms",
          .type = Type::Integer,
          .description = description,
          .fallback = fallback,
          .least = 100,
          .most = kMostWaitMs,
          .aliases = {"yield_ms", "yield_after_ms"}};
}

Argument timeout_argument(const char* description) {
  return {.name = "timeout_ms",
          .type = Type::Integer,
          .description = description,
          .least = 0,
          .most = kMostTimeMs,
          .aliases = {"timeout"}};
}

Argument description_argument() {
  return {.name = "description",
          .type = Type::Text,
          .description = "What the command is for, in a few words; kept in the history"};
}

Argument sandbox_argument() {
  return {.name = "sandbox",
          .type = Type::Text,
          .description =
              "Confine it more strictly than is configured: \"read-only\" changes nothing and has no "
              "network, \"workspace\" changes only the project's folder",
          .choices = {"read-only", "workspace", "workspace+net"}};
}

Argument cancel_argument() {
  return {.name = "interrupt_on_cancel",
          .type = Type::Flag,
          .description = "If this call is cancelled, interrupt the command too (otherwise it keeps running)",
          .fallback = 0};
}

// Empty: fine. What no shell can be given is refused here; what it does is judged by the daemon.
std::string command_problem(std::string_view command) {
  if (command.find_first_not_of(" \t\r\n") == std::string_view::npos)
    return "`command` is empty: write what to run.";
  if (command.find('\0') != std::string_view::npos) return "`command` contains a NUL character: remove it.";
  return {};
}

// Sets `cwd` to a real path. Empty: fine.
std::string place_problem(const Context& context, const json::object& values, bool always, std::string& cwd) {
  const auto given = text_at(values, "cwd");
  if (!given && !always) return {};
  const auto folder = context.roots.resolve(given);
  if (!folder) return folder.error().message + ".";
  cwd = *folder;
  return {};
}

// Empty: fine.
std::string environment_problem(const json::object& values, wire::Variables& env) {
  const json::array* entries = array_at(values, "env");
  if (entries == nullptr) return {};
  for (const json::value& entry : *entries) {
    const std::string_view text = view(entry.get_string());
    const size_t equals = text.find('=');
    if (equals == 0 || equals == std::string_view::npos || text.find('\0') != std::string_view::npos)
      return fmt::format("`env` has \"{}\": every entry is NAME=value.", visible_line(text, 60));
    env.entries.emplace_back(text);
  }
  return {};
}

// What every started command's call has in common. Without a time, the daemon's configuration has one.
template <client::Request R>
void add_manner(const json::object& values, const RequestPtr& request, std::optional<int64_t> wait_ms,
                R& call) {
  if (wait_ms) call.yield_after = std::chrono::milliseconds(*wait_ms);
  call.description = text_or(values, "description");
  if (flag_at(values, "interrupt_on_cancel")) call.on_cancel = wire::OnCancel::Interrupt;
  call.stream = request->wants_progress();
  add_view(values, call.view);
}

std::optional<std::chrono::milliseconds> time_at(const json::object& values, std::string_view name) {
  const auto given = integer_at(values, name);
  return given ? std::optional(std::chrono::milliseconds(*given)) : std::nullopt;
}

json::object answer(const json::object& result) {
  json::object out = both(result_text(result, Fence()), result);
  if (did_not_run(result)) out["isError"] = true;
  return out;
}

// Starts it, or goes on where a person was asked; then answers.
template <client::Request R>
Detached start(Context& context, RequestPtr request, R call) {
  std::optional<CallReply> settled;
  if (request->params.contains("requestState")) {
    settled = co_await resume(context, request);
  } else {
    const auto progress = Progress::start(request);
    const StartedPtr started = start_command(context, request, std::move(call),
                                             [progress](const json::object& part) { progress->part(part); });
    settled = co_await follow(context, request, started);
  }
  if (!settled) co_return;
  const CallReply reply = std::move(*settled);
  request->reply(reply ? answer(*reply) : failure_result(reply.error()));
}

Detached run_command(Context& context, RequestPtr request, json::object values) {
  wire::RunRequest call;
  call.command = text_or(values, "command");
  std::string problem = command_problem(call.command);
  if (problem.empty()) problem = place_problem(context, values, true, call.cwd);
  if (problem.empty()) problem = environment_problem(values, call.env);
  if (!problem.empty()) {
    request->reply(error_result(problem));
    co_return;
  }
  const bool background = flag_at(values, "background");
  const int64_t wait_ms = background ? kBackgroundWaitMs : integer_at(values, "wait_ms").value_or(kRunWaitMs);
  call.timeout = time_at(values, "timeout_ms");
  call.idle_timeout = time_at(values, "idle_timeout_ms");
  if (background) {
    call.timeout = call.timeout.value_or(std::chrono::milliseconds(0));
    call.idle_timeout = call.idle_timeout.value_or(std::chrono::milliseconds(0));
  }
  call.keep_background = flag_at(values, "keep_background", call.keep_background);
  call.task = context.session;
  call.stdin_text = text_at(values, "stdin");
  call.sandbox = text_or(values, "sandbox");
  add_manner(values, request, wait_ms, call);
  start(context, request, std::move(call));
}

Detached run_persistent_command(Context& context, RequestPtr request, json::object values) {
  wire::ExecRequest call;
  call.command = text_or(values, "command");
  std::string problem = command_problem(call.command);
  if (problem.empty()) problem = place_problem(context, values, false, call.cwd);
  if (!problem.empty()) {
    request->reply(error_result(problem));
    co_return;
  }
  call.terminal = text_or(values, "id");
  call.sandbox = text_or(values, "sandbox");
  call.timeout = time_at(values, "timeout_ms").value_or(call.timeout);
  call.on_busy = wire::word_named<wire::OnBusy>(text_or(values, "on_busy")).value_or(call.on_busy);
  add_manner(values, request, integer_at(values, "wait_ms"), call);
  start(context, request, std::move(call));
}

std::string batch_text(const json::object& reply) {
  const Fence fence;
  std::string text = flag_at(reply, "one_shell") ? "All in one shell, one after the other.\n" : "";
  const json::array* results = array_at(reply, "results");
  for (size_t i = 0; results != nullptr && i < results->size(); i++) {
    if (const json::object* result = (*results)[i].if_object())
      text += (i == 0 ? "" : "\n") + result_text(*result, fence);
  }
  const json::array* rest = array_at(reply, "not_run");
  if (rest == nullptr || rest->empty()) return text;
  text += fmt::format("\nNot run, because {}:\n",
                      text_or(reply, "stopped_by") == "time"
                          ? "wait_ms had passed"
                          : "an earlier command failed (keep_going runs them anyway)");
  for (const json::value& command : *rest) {
    if (command.is_string()) text += "$ " + visible_line(view(command.get_string()), 200) + "\n";
  }
  return text;
}

Detached run_batch(Context& context, RequestPtr request, json::object values) {
  wire::BatchRequest batch;
  std::string problem = place_problem(context, values, true, batch.cwd);
  for (const json::value& command : values.at("commands").get_array()) {
    batch.commands.emplace_back(view(command.get_string()));
    if (problem.empty()) problem = command_problem(batch.commands.back());
  }
  const bool one_shell = flag_at(values, "one_shell");
  if (one_shell && integer_at(values, "parallel").value_or(1) > 1)
    problem = "`parallel` cannot be combined with `one_shell`: leave one of them out.";
  if (!problem.empty()) {
    request->reply(error_result(problem));
    co_return;
  }
  batch.keep_going = flag_at(values, "keep_going");
  batch.separate = !one_shell;
  batch.task = context.session;
  batch.yield_after = time_at(values, "wait_ms").value_or(std::chrono::milliseconds(kRunWaitMs));
  batch.parallel = integer_at(values, "parallel").value_or(batch.parallel);
  batch.timeout = time_at(values, "timeout_ms");
  batch.sandbox = text_or(values, "sandbox");
  add_view(values, batch.view);
  const auto progress = Progress::start(request);
  // Named first: GCC 12 destroys a closure twice that is made inside a co_await.
  Callback<CallReply> call =
      call_daemon(context, request, batch, [progress](const json::object& part) { progress->part(part); });
  CallReply reply = co_await call;
  if (!reply) {
    request->reply(failure_result(reply.error()));
    co_return;
  }
  if (one_shell) (*reply)["one_shell"] = true;
  bool any_ran = false;
  if (const json::array* results = array_at(*reply, "results")) {
    for (const json::value& entry : *results)
      any_ran = any_ran || (entry.is_object() && !did_not_run(entry.get_object()));
  }
  json::object out = both(batch_text(*reply), *reply);
  if (!any_ran) out["isError"] = true;
  request->reply(std::move(out));
}

}  // namespace

std::vector<Tool> command_tools() {
  return {
      {"run_command",
       "Run a command",
       "Run one command in a terminal of its own and return its output and exit code. If a program asks for "
       "input, the result says what it waits for. A command that takes longer than wait_ms keeps running; "
       "the result has an id for wait_for, read_output and interrupt_command.",
       {command_argument(),
        {.name = "cwd",
         .type = Type::Text,
         .description = "The folder to run it in",
         .aliases = {"directory", "dir_path"}},
        wait_argument(
            "Return after this time even if the command is still running, with its output so far and its id",
            kRunWaitMs),
        timeout_argument("Stop the command after this time (default: never, or as configured)"),
        {.name = "idle_timeout_ms",
         .type = Type::Integer,
         .description = "Stop the command after this much silence (default: never, or as configured)",
         .least = 0,
         .most = kMostTimeMs},
        {.name = "background",
         .type = Type::Flag,
         .description = "For servers and watchers: return at once, without time limits",
         .fallback = 0,
         .aliases = {"is_background"}},
        argument_of<wire::RunRequest>("keep_background"),
        {.name = "env", .type = Type::TextList, .description = "Variables to set, each NAME=value"},
        argument_of<wire::RunRequest>("stdin"),
        sandbox_argument(),
        description_argument(),
        cancel_argument(),
        max_lines_argument(),
        max_chars_argument()},
       {.read_only = false, .destructive = true, .idempotent = false, .open_world = true},
       result_schema,
       TaskSupport::Optional,
       run_command},
      {"run_persistent_command",
       "Run a command in an open terminal",
       "Run a command in a terminal from open_persistent_terminal: folder, variables and shell state persist "
       "from one command to the next. Returns when the command ends or asks for input, or after wait_ms; it "
       "keeps running then.",
       {id_argument("The terminal's id, from open_persistent_terminal"),
        command_argument(),
        {.name = "cwd", .type = Type::Text, .description = "A folder for this command only"},
        wait_argument(
            "Return after this time even if the command is still running (default 30000, or as configured)",
            std::nullopt),
        timeout_argument("Stop the command after this time (default: never)"),
        {.name = "on_busy",
         .type = Type::Text,
         .description = "If another command is running there: \"fail\" (default) or \"wait\" for its end",
         .choices = {"fail", "wait"}},
        sandbox_argument(),
        description_argument(),
        cancel_argument(),
        max_lines_argument(),
        max_chars_argument()},
       {.read_only = false, .destructive = true, .idempotent = false, .open_world = true},
       result_schema,
       TaskSupport::Optional,
       run_persistent_command},
      {"run_batch",
       "Run several commands",
       "Run several independent commands, each in a terminal of its own, and return a result for each: one "
       "after "
       "the other, or several at once with `parallel`. Stops at the first that fails unless keep_going is "
       "set.",
       {{.name = "commands", .type = Type::TextList, .description = "The command lines", .required = true},
        {.name = "cwd", .type = Type::Text, .description = "The folder to run them in"},
        argument_of<wire::BatchRequest>("keep_going"),
        {.name = "parallel",
         .type = Type::Integer,
         .description = "How many may run at once",
         .fallback = 1,
         .least = 1,
         .most = 16},
        {.name = "one_shell",
         .type = Type::Flag,
         .description = "Run them in one shell instead: folder and variables persist from one to the next",
         .fallback = 0},
        timeout_argument("Stop each command after this time (default: never, or as configured)"),
        sandbox_argument(),
        wait_argument("Return after this time: a running command keeps running, and commands that have not "
                      "started are not run",
                      kRunWaitMs),
        max_lines_argument(),
        max_chars_argument()},
       {.read_only = false, .destructive = true, .idempotent = false, .open_world = true},
       batch_schema,
       TaskSupport::Optional,
       run_batch},
  };
}

}  // namespace ttyward::mcp::tools
