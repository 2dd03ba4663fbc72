// The two prompts, and completion of ids.
#include <fmt/format.h>

#include <utility>

#include "mcp/content.h"
#include "mcp/tools/result_text.h"
#include "mcp/tools/terminals.h"
#include "rpc/message.h"
#include "wire/types/command_calls.h"
#include "wire/types/policy_calls.h"
#include "wire/types/terminal_calls.h"

namespace ttyward::mcp::tools {
namespace {

constexpr size_t kMostValues = 100;  // of a completion, as the protocol limits it

json::object one_argument(const char* name, const char* description, bool required) {
  json::object out;
  out["name"] = name;
  out["description"] = description;
  out["required"] = required;
  return out;
}

Detached debug_failing_command(Context& context, RequestPtr request, std::string id) {
  wire::ResultRequest result;
  CallReply reply;
  if (kind_of(id) == Kind::Command) {
    result.command = id;
  } else {
    wire::HistoryRequest failed;
    failed.failed = true;
    failed.limit = 1;
    failed.terminal = id;
    reply = co_await call_daemon(context, request, failed);
    const json::array* commands = reply ? array_at(*reply, "commands") : nullptr;
    const json::object* last =
        commands != nullptr && !commands->empty() ? commands->front().if_object() : nullptr;
    if (last != nullptr) result.command = text_or(*last, "command_id");
    if (reply && last == nullptr)
      reply = tl::unexpected(call_failure(wire::Code::NotFound, "no command has failed"));
  }
  if (!result.command.empty()) reply = co_await call_daemon(context, request, result);
  if (!reply) {
    request->fail(rpc::kInvalidParams, visible_line(reply.error().message, 300));
    co_return;
  }
  const std::string text =
      "This command failed. Find out why: read the end of its output first, then search the rest with "
      "read_output where something "
      "was left out. Name the cause and the smallest fix, and say how sure you are. Run it again only when "
      "you know what to change.\n\n" +
      result_text(*reply, Fence(), Echo::Command);
  request->reply(json::object{{"description", "Find out why a command failed"},
                              {"messages", json::array{prompt_message(text_content(text))}}});
}

Detached explain_screen(Context& context, RequestPtr request, std::string id) {
  wire::ScreenRequest screen;
  screen.terminal = id;
  const CallReply reply = co_await call_daemon(context, request, screen);
  if (!reply) {
    request->fail(rpc::kInvalidParams, visible_line(reply.error().message, 300));
    co_return;
  }
  const std::string text = fmt::format(
      "Explain what this terminal ({}) shows: which program it is, what state it is in, what it waits for, "
      "and which keys or commands "
      "would be the usual next steps. Do not type anything yet.\n\n{}",
      visible_line(id, 60), Fence().around("screen", visible_text(text_or(*reply, "content"))));
  request->reply(json::object{{"description", "Explain what a terminal shows"},
                              {"messages", json::array{prompt_message(text_content(text))}}});
}

Detached complete_ids(Context& context, RequestPtr request, std::string begin) {
  const CallReply reply = co_await call_daemon<wire::ListRequest>(context, request);
  json::array values;
  const json::array* terminals = reply ? array_at(*reply, "terminals") : nullptr;
  for (size_t i = 0; terminals != nullptr && i < terminals->size() && values.size() < kMostValues; i++) {
    const json::object* terminal = (*terminals)[i].if_object();
    const std::string id = terminal != nullptr ? text_or(*terminal, "id") : "";
    if (!id.empty() && id.starts_with(begin)) values.emplace_back(id);
  }
  json::object completion;
  completion["values"] = std::move(values);
  completion["hasMore"] = false;
  request->reply(json::object{{"completion", std::move(completion)}});
}

}  // namespace

json::array Terminals::prompts() const {
  const auto prompt = [](const char* name, const char* title, const char* description,
                         json::object argument) {
    json::object out;
    out["name"] = name;
    out["title"] = title;
    out["description"] = description;
    out["arguments"] = json::array{std::move(argument)};
    return out;
  };
  return json::array{
      prompt(
          "debug-failing-command", "Debug a failing command", "Find out why a command failed",
          one_argument("id", "A command, or a terminal for its last failure; empty: the most recent failure",
                       false)),
      prompt("explain-screen", "Explain a screen", "Explain what a terminal shows",
             one_argument("id", "The terminal", true))};
}

bool Terminals::has_prompt(std::string_view name) const {
  return name == "debug-failing-command" || name == "explain-screen";
}

void Terminals::get_prompt(RequestPtr request, std::string name, json::object arguments) {
  const std::string id = text_or(arguments, "id");
  if (name == "debug-failing-command") {
    debug_failing_command(context_, std::move(request), id);
  } else if (id.empty()) {
    request->fail(rpc::kInvalidParams, "explain-screen needs the argument \"id\": a terminal");
  } else {
    explain_screen(context_, std::move(request), id);
  }
}

void Terminals::complete(RequestPtr request) {
  const json::object* argument = object_at(request->params, "argument");
  if (argument == nullptr || object_at(request->params, "ref") == nullptr)
    return request->fail(rpc::kInvalidParams, "completion/complete needs \"ref\" and \"argument\"");
  complete_ids(context_, std::move(request), text_or(*argument, "value"));
}

}  // namespace ttyward::mcp::tools
