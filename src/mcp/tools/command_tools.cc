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

constexpr int64_t kBackgroundWaitMs = 300;  // long enough to see a command fail at once
constexpr int64_t kMostWaitMs = 600'000;
constexpr int64_t kMostTimeMs = 7 * 24 * 3'600'000ll;

using Type = Argument::Type;

Argument command_argument() {
  return {.name = "command", .type = Type::Text, .description = "", .required = true};
}

Argument wait_argument(const char* description) {
  return {.name = "wait_ms",
          .type = Type::Integer,
          .description = description,
          .least = 0,
          .most = kMostWaitMs,
          .aliases = {"yield_ms", "yield_after_ms"}};
}

// To the daemon 0 means to wait for the end; who asks for no wait gets the shortest.
std::chrono::milliseconds wait_of(int64_t wait_ms) {
  return std::chrono::milliseconds(std::max<int64_t>(1, wait_ms));
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
  return {.name = "description", .type = Type::Text, .description = "What it is for; kept in the history"};
}

enum class Told : uint8_t { No, Yes };

// Told once: the list of tools is short.
Argument sandbox_argument(Told told) {
  return {.name = "sandbox",
          .type = Type::Text,
          .description = "",
          .choices = {"read-only", "workspace", "workspace+net", "none"},
          .told = told == Told::Yes};
}

Argument place_argument() {
  return {.name = "place", .type = Type::Text, .description = "ssh:HOST, podman:NAME"};
}

Argument cancel_argument() {
  return {.name = "interrupt_on_cancel", .type = Type::Flag, .description = "", .fallback = 0, .told = false};
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
  if (values.contains("place")) {
    cwd = given.value_or("");  // a folder there
    return {};
  }
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
  if (wait_ms) call.yield_after = wait_of(*wait_ms);
  call.description = text_or(values, "description");
  if (flag_at(values, "interrupt_on_cancel")) call.on_cancel = wire::OnCancel::Interrupt;
  call.stream = request->wants_progress();
  add_view(values, call.view);
}

std::optional<std::chrono::milliseconds> time_at(const json::object& values, std::string_view name) {
  const auto given = integer_at(values, name);
  return given ? std::optional(std::chrono::milliseconds(*given)) : std::nullopt;
}

json::object answer(const json::object& result, const json::object& values) {
  json::object out = both(result_text(result, Fence()), wants_detail(values) ? result : lean_result(result));
  if (did_not_run(result)) out["isError"] = true;
  return out;
}

// Starts it, or goes on where a person was asked; then answers.
template <client::Request R>
Detached start(Context& context, RequestPtr request, json::object values, R call) {
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
  request->reply(reply ? answer(*reply, values) : failure_result(reply.error()));
}

Detached run_command(Context& context, RequestPtr request, json::object values) {
  wire::RunRequest call;
  call.command = text_or(values, "command");
  std::string problem = command_problem(call.command);
  if (problem.empty()) problem = place_problem(context, values, true, call.cwd);
  if (problem.empty()) problem = environment_problem(values, call.env);
  if (problem.empty()) problem = sandbox_problem(context, values, call.sandbox);
  if (!problem.empty()) {
    request->reply(error_result(problem));
    co_return;
  }
  const bool background = flag_at(values, "background");
  const int64_t wait_ms =
      background ? kBackgroundWaitMs : integer_at(values, "wait_ms").value_or(context.wait.count());
  call.timeout = time_at(values, "timeout_ms");
  call.idle_timeout = time_at(values, "idle_timeout_ms");
  if (background) {
    call.timeout = call.timeout.value_or(std::chrono::milliseconds(0));
    call.idle_timeout = call.idle_timeout.value_or(std::chrono::milliseconds(0));
  }
  call.keep_background = flag_at(values, "keep_background", call.keep_background);
  call.task = context.session;
  call.stdin_text = text_at(values, "stdin");
  call.try_run = flag_at(values, "try");
  call.place = text_or(values, "place");
  add_manner(values, request, wait_ms, call);
  start(context, request, std::move(values), std::move(call));
}

Detached run_persistent_command(Context& context, RequestPtr request, json::object values) {
  wire::ExecRequest call;
  call.command = text_or(values, "command");
  std::string problem = command_problem(call.command);
  if (problem.empty()) problem = place_problem(context, values, false, call.cwd);
  if (problem.empty()) problem = sandbox_problem(context, values, call.sandbox);
  if (!problem.empty()) {
    request->reply(error_result(problem));
    co_return;
  }
  call.terminal = text_or(values, "id");
  call.timeout = time_at(values, "timeout_ms").value_or(call.timeout);
  call.on_busy = wire::word_named<wire::OnBusy>(text_or(values, "on_busy")).value_or(call.on_busy);
  add_manner(values, request, integer_at(values, "wait_ms"), call);
  start(context, request, std::move(values), std::move(call));
}

std::string batch_text(const json::object& reply) {
  const Fence fence;
  std::string text = flag_at(reply, "one_shell") ? "All in one shell, one after the other.\n" : "";
  const json::array* results = array_at(reply, "results");
  for (size_t i = 0; results != nullptr && i < results->size(); i++) {
    if (const json::object* result = (*results)[i].if_object())
      text += (i == 0 ? "" : "\n") + result_text(*result, fence, Echo::Command);
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
  if (problem.empty()) problem = sandbox_problem(context, values, batch.sandbox);
  if (!problem.empty()) {
    request->reply(error_result(problem));
    co_return;
  }
  batch.keep_going = flag_at(values, "keep_going");
  batch.separate = !one_shell;
  batch.task = context.session;
  const auto wait_ms = integer_at(values, "wait_ms");
  batch.yield_after = wait_ms ? wait_of(*wait_ms) : context.wait;
  batch.parallel = integer_at(values, "parallel").value_or(batch.parallel);
  batch.timeout = time_at(values, "timeout_ms");
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
  json::array lean;
  if (const json::array* results = array_at(*reply, "results")) {
    for (const json::value& entry : *results) {
      if (!entry.is_object()) continue;
      any_ran = any_ran || !did_not_run(entry.get_object());
      lean.push_back(lean_result(entry.get_object()));
    }
  }
  json::object structured = *reply;
  if (!wants_detail(values)) {
    structured = lean_value(structured).as_object();
    structured["results"] = std::move(lean);
  }
  json::object out = both(batch_text(*reply), structured);
  if (!any_ran) out["isError"] = true;
  request->reply(std::move(out));
}

}  // namespace

std::vector<Tool> command_tools() {
  return {
      {"run_command",
       "Run a command",
       "Run a bash command line in a terminal of its own: its exit code, and a digest of its output (view: "
       "full or tail for the text itself; at most max_chars, 8000). After wait_ms it goes on in the "
       "background: wait_for, read_output, interrupt_command take its id. detail: true returns all fields.",
       with_view(
           {command_argument(),
            {.name = "cwd", .type = Type::Text, .description = "", .aliases = {"directory", "dir_path"}},
            wait_argument("Default 50000"),
            timeout_argument("Stop it then (default: never)"),
            {.name = "idle_timeout_ms",
             .type = Type::Integer,
             .description = "Stop it after so much silence",
             .least = 0,
             .most = kMostTimeMs},
            {.name = "background",
             .type = Type::Flag,
             .description = "For servers: return at once",
             .fallback = 0,
             .aliases = {"is_background"}},
            {.name = "keep_background",
             .type = Type::Flag,
             .description = "false: end what it leaves behind",
             .fallback = 1},
            {.name = "env", .type = Type::TextList, .description = "NAME=value"},
            {.name = "stdin", .type = Type::Text, .description = ""},
            sandbox_argument(Told::Yes),
            place_argument(),
            {.name = "try",
             .type = Type::Flag,
             .description = "Run it without its changes; the result lists them",
             .fallback = 0},
            description_argument(),
            cancel_argument()}),
       {.read_only = false, .destructive = true, .idempotent = false, .open_world = true},
       result_schema,
       TaskSupport::Optional,
       run_command},
      {"run_persistent_command",
       "Run a command in an open terminal",
       "Run a command in a terminal from open_persistent_terminal: folder, variables and shell state "
       "persist. Returns when it ends or asks for input, or after wait_ms.",
       with_view({id_argument("The terminal's"),
                  command_argument(),
                  {.name = "cwd", .type = Type::Text, .description = "For this command only"},
                  wait_argument("Default 30000"),
                  timeout_argument(""),
                  {.name = "on_busy",
                   .type = Type::Text,
                   .description = "Default fail",
                   .choices = {"fail", "wait"}},
                  sandbox_argument(Told::No),
                  description_argument(),
                  cancel_argument()}),
       {.read_only = false, .destructive = true, .idempotent = false, .open_world = true},
       result_schema,
       TaskSupport::Optional,
       run_persistent_command},
      {"run_batch",
       "Run several commands",
       "Run independent commands, each in a terminal of its own, with a result for each. Stops at the first "
       "that fails unless keep_going is set. What has not begun after wait_ms is not run.",
       with_view({{.name = "commands", .type = Type::TextList, .description = "", .required = true},
                  {.name = "cwd", .type = Type::Text, .description = ""},
                  {.name = "keep_going", .type = Type::Flag, .description = "", .fallback = 0},
                  {.name = "parallel",
                   .type = Type::Integer,
                   .description = "How many at once (1)",
                   .fallback = 1,
                   .least = 1,
                   .most = 16},
                  {.name = "one_shell",
                   .type = Type::Flag,
                   .description = "Folder and variables persist from one to the next",
                   .fallback = 0},
                  timeout_argument("Of each"),
                  sandbox_argument(Told::No),
                  wait_argument("")},
                 false),
       {.read_only = false, .destructive = true, .idempotent = false, .open_world = true},
       any_schema,
       TaskSupport::Optional,
       run_batch},
  };
}

}  // namespace ttyward::mcp::tools
