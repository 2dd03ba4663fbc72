// open_persistent_terminal, kill_persistent_terminal, list_terminals.
#include <fmt/format.h>

#include <algorithm>
#include <utility>
#include <vector>

#include "mcp/content.h"
#include "mcp/tools/result_text.h"
#include "mcp/tools/tool.h"
#include "wire/types/command_calls.h"
#include "wire/types/terminal_calls.h"
#include "wire/types/watching_calls.h"

namespace ttyward::mcp::tools {
namespace {

using Type = Argument::Type;

Detached open_terminal(Context& context, RequestPtr request, json::object values) {
  // In another place it is a folder there.
  const auto given = text_at(values, "cwd");
  const auto folder = values.contains("place") ? base::Result<std::string>(std::string(given.value_or("")))
                                               : context.roots.resolve(given);
  if (!folder) {
    request->reply(error_result(folder.error().message + "."));
    co_return;
  }
  wire::OpenRequest open;
  if (const std::string problem = sandbox_problem(context, values, open.sandbox); !problem.empty()) {
    request->reply(error_result(problem));
    co_return;
  }
  wire::AcquireRequest acquire;
  acquire.cwd = *folder;
  acquire.task = context.session;
  // One like any other may be one that is idle there already.
  const bool reuse = !flag_at(values, "new") && !values.contains("name") && !values.contains("shell") &&
                     !values.contains("shell_args") && open.sandbox.empty() && !values.contains("place");
  open.cwd = *folder;
  open.task = context.session;
  open.owner = wire::Owner::Agent;
  open.name = text_or(values, "name");
  open.shell = text_or(values, "shell");
  open.place = text_or(values, "place");
  if (const json::array* arguments = array_at(values, "shell_args")) {
    for (const json::value& each : *arguments) open.shell_args.emplace_back(view(each.get_string()));
  }
  Callback<CallReply> call =
      reuse ? call_daemon(context, request, acquire) : call_daemon(context, request, open);
  const CallReply reply = co_await call;
  if (!reply) {
    request->reply(failure_result(reply.error()));
    co_return;
  }
  const json::object* terminal = object_at(*reply, "terminal");
  json::object structured = terminal != nullptr ? *terminal : json::object();
  const std::string id = text_or(structured, "id");
  const std::string integration = text_or(structured, "integration");
  if (!wants_detail(values)) {
    structured = lean_terminal(structured);
    if (integration != "rich") structured["integration"] = integration;
  }
  structured["persistent_terminal_id"] = id;
  std::string text = fmt::format(
      "Terminal {} is open in {}{}. run_persistent_command takes this id; kill_persistent_terminal closes "
      "it.",
      id, visible_line(text_or(structured, "cwd", *folder), 300),
      reuse && !flag_at(*reply, "created", true)
          ? "; it was idle there and keeps the state of earlier commands"
          : "");
  if (integration == "none")
    text += " Its shell does not report when commands end, so exit codes may be unknown.";
  request->reply(both(text, structured));
}

Detached kill_terminal(Context& context, RequestPtr request, json::object values) {
  const std::string id = text_or(values, "id");
  wire::KillRequest kill;
  set_target(kill, id);
  kill.force = flag_at(values, "force");
  const CallReply reply = co_await call_daemon(context, request, kill);
  if (!reply) {
    request->reply(failure_result(reply.error()));
    co_return;
  }
  if (!flag_at(*reply, "killed")) {
    request->reply(error_result(
        fmt::format("There is no terminal {}, or it has ended. list_terminals shows the existing ones.",
                    visible_line(id, 60))));
    co_return;
  }
  const json::array* survivors = array_at(*reply, "survivors");
  const bool clean = survivors == nullptr || survivors->empty();
  request->reply(
      both(clean ? fmt::format("Terminal {} is closed; all its processes have ended.", visible_line(id, 60))
                 : fmt::format("Terminal {} is closed, but these processes did not end: {}",
                               visible_line(id, 60), visible_line(json::serialize(*survivors), 300)),
           *reply));
}

constexpr size_t kMostListed = 50;
constexpr int64_t kNewsChars = 8000;  // of all terminals

// Those of this session first, and of them those that live; the newest first. Returns how many were left out.
size_t arrange(json::object& listed, const std::string& session) {
  json::value* value = listed.if_contains("terminals");
  if (value == nullptr || !value->is_array()) return 0;
  json::array& all = value->get_array();
  const auto rank = [&](const json::value& entry) {
    const json::object* terminal = entry.if_object();
    if (terminal == nullptr) return 3;
    const std::string state = text_or(*terminal, "state");
    const bool lives = state != "finished" && state != "lost";
    return (text_or(*terminal, "task") == session ? 0 : 2) + (lives ? 0 : 1);
  };
  std::vector<json::value> sorted(all.rbegin(), all.rend());
  std::stable_sort(sorted.begin(), sorted.end(),
                   [&](const json::value& a, const json::value& b) { return rank(a) < rank(b); });
  const size_t left_out = sorted.size() > kMostListed ? sorted.size() - kMostListed : 0;
  sorted.resize(sorted.size() - left_out);
  all = json::array(sorted.begin(), sorted.end());
  return left_out;
}

Detached list_terminals(Context& context, RequestPtr request, json::object values) {
  wire::ListRequest all;
  all.all = flag_at(values, "all");
  const CallReply reply = co_await call_daemon(context, request, all);
  if (!reply) {
    request->reply(failure_result(reply.error()));
    co_return;
  }
  json::object structured = *reply;
  const size_t left_out = arrange(structured, context.session);
  const json::array* terminals = array_at(structured, "terminals");
  std::string text;
  json::array lean;
  for (size_t i = 0; terminals != nullptr && i < terminals->size(); i++) {
    const json::object* terminal = (*terminals)[i].if_object();
    if (terminal == nullptr) continue;
    text += terminal_line(*terminal) + "\n";
    lean.push_back(lean_terminal(*terminal));
  }
  if (!wants_detail(values)) structured = json::object{{"terminals", std::move(lean)}};
  if (text.empty()) text = "No terminal is open.\n";
  if (left_out > 0) {
    structured["left_out"] = left_out;
    text += fmt::format("And {} more, not shown.\n", left_out);
  }
  if (flag_at(values, "new_output")) {
    wire::EnvironmentRequest ask;
    ask.task = context.session;
    ask.view.view = "agent";
    ask.view.chars = kNewsChars;
    const CallReply news = co_await call_daemon(context, request, ask);
    if (!news) {
      request->reply(failure_result(news.error()));
      co_return;
    }
    structured["new_output"] = text_or(*news, "text");
    text += Fence().around("what is new", visible_text(text_or(*news, "text")));
  }
  request->reply(both(text, structured));
}

}  // namespace

std::vector<Tool> terminal_tools() {
  return {
      {"open_persistent_terminal",
       "Open a terminal",
       "Open a shell that stays: for commands that build on each other, servers, dialogues. Reuses an idle "
       "one in that folder unless you ask for a name, a shell or a new one.",
       {{.name = "cwd", .type = Type::Text, .description = ""},
        {.name = "name", .type = Type::Text, .description = ""},
        {.name = "shell", .type = Type::Text, .description = ""},
        {.name = "shell_args", .type = Type::TextList, .description = ""},
        {.name = "sandbox",
         .type = Type::Text,
         .description = "",
         .choices = {"read-only", "workspace", "workspace+net"},
         .told = false},
        {.name = "place", .type = Type::Text, .description = "", .told = false},
        {.name = "new", .type = Type::Flag, .description = "", .fallback = 0},
        {.name = "detail", .type = Type::Flag, .description = "", .fallback = 0, .told = false}},
       {.read_only = false, .destructive = false, .idempotent = false, .open_world = false},
       any_schema,
       TaskSupport::Never,
       open_terminal},
      {"kill_persistent_terminal",
       "Close a terminal",
       "Close a terminal and end everything in it. Its output can still be read for a while.",
       {id_argument("The terminal's"),
        {.name = "force", .type = Type::Flag, .description = "", .fallback = 0}},
       {.read_only = false, .destructive = true, .idempotent = true, .open_world = false},
       any_schema,
       TaskSupport::Never,
       kill_terminal},
      {"list_terminals",
       "List terminals",
       "List the open terminals.",
       {{.name = "all", .type = Type::Flag, .description = "Also those that have ended", .fallback = 0},
        {.name = "new_output",
         .type = Type::Flag,
         .description = "And what they printed since you last asked",
         .fallback = 0},
        {.name = "detail", .type = Type::Flag, .description = "", .fallback = 0, .told = false}},
       {.read_only = true, .destructive = false, .idempotent = true, .open_world = false},
       any_schema,
       TaskSupport::Never,
       list_terminals},
  };
}

}  // namespace ttyward::mcp::tools
