#include <utility>

#include "mcp/tools/tool.h"

namespace ttyward::mcp::tools {

std::span<const Tool> tool_table() {
  static const std::vector<Tool> kTools = [] {
    std::vector<Tool> all;
    for (auto* group : {command_tools, terminal_tools, output_tools, control_tools}) {
      for (Tool& tool : group()) all.push_back(std::move(tool));
    }
    return all;
  }();
  return kTools;
}

const Tool* find_tool(std::string_view name) {
  for (const Tool& tool : tool_table()) {
    if (name == tool.name) return &tool;
  }
  return nullptr;
}

Argument id_argument(const char* description) {
  return {.name = "id",
          .type = Argument::Type::Text,
          .description = description,
          .required = true,
          .aliases = {"terminal", "terminal_id", "persistent_terminal_id", "persistentTerminalId",
                      "command_id", "approval_id"}};
}

std::vector<Argument> with_view(std::vector<Argument> arguments, bool told) {
  arguments.push_back({.name = "view",
                       .type = Argument::Type::Text,
                       .description = "",
                       .choices = {"digest", "full", "tail"},
                       .told = told});
  arguments.push_back({.name = "max_chars",
                       .type = Argument::Type::Integer,
                       .description = "",
                       .least = 200,
                       .most = 400'000,
                       .told = told});
  arguments.push_back({.name = "max_lines",
                       .type = Argument::Type::Integer,
                       .description = "",
                       .least = 1,
                       .most = 20'000,
                       .told = false});
  arguments.push_back(
      {.name = "detail", .type = Argument::Type::Flag, .description = "", .fallback = 0, .told = false});
  return arguments;
}

void add_view(const json::object& values, wire::ViewArguments& view) {
  view.lines = integer_at(values, "max_lines");
  view.chars = integer_at(values, "max_chars");
  view.view = text_or(values, "view", "agent");
  if (view.view != "full") return;
  // All lines, within the characters that are configured.
  view.view = "default";
  view.lines = view.lines.value_or(0);
}

void add_lines_view(const json::object& values, End end, wire::ViewArguments& view) {
  view.lines = integer_at(values, "max_lines");
  view.chars = integer_at(values, "max_chars");
  view.view = end == End::First ? "head" : "tail";
}

bool wants_detail(const json::object& values) {
  return flag_at(values, "detail");
}

json::object any_schema() {
  json::object schema;
  schema["type"] = "object";
  return schema;
}

json::object result_schema() {
  json::object text;
  text["type"] = "string";
  json::object properties;
  properties["state"] = text;
  properties["output"] = text;
  json::object schema = any_schema();
  schema["properties"] = std::move(properties);
  schema["required"] = json::array{"state"};
  return schema;
}

}  // namespace ttyward::mcp::tools
