#include <utility>

#include "mcp/tools/tool.h"

namespace ttyward::mcp::tools {
namespace {

json::object nullable(const char* type) {
  return json::object{{"type", json::array{type, "null"}}};
}

}  // namespace

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

Argument max_lines_argument() {
  return {
      .name = "max_lines",
      .type = Argument::Type::Integer,
      .description =
          "Maximum lines of output to return (default 500, or as configured); read_output returns the rest",
      .least = 1,
      .most = 20'000};
}

Argument max_chars_argument() {
  return {.name = "max_chars",
          .type = Argument::Type::Integer,
          .description = "Maximum characters of output to return (default 50000, or as configured)",
          .least = 200,
          .most = 400'000};
}

void add_view(const json::object& values, json::object& args) {
  for (const auto& [ours, theirs] : {std::pair("max_lines", "lines"), std::pair("max_chars", "chars")}) {
    if (const auto most = integer_at(values, ours)) args[theirs] = *most;
  }
}

json::object loose_schema(std::initializer_list<std::pair<const char*, const char*>> members) {
  json::object properties;
  for (const auto& [name, type] : members) properties[name] = nullable(type);
  json::object schema;
  schema["type"] = "object";
  schema["properties"] = std::move(properties);
  return schema;
}

json::object result_schema() {
  json::object schema =
      loose_schema({{"command_id", "string"},    {"terminal_id", "string"},    {"command", "string"},
                    {"cwd", "string"},           {"cwd_after", "string"},      {"exit_code", "integer"},
                    {"signal", "string"},        {"core_dumped", "boolean"},   {"known_by", "string"},
                    {"pipeline", "array"},       {"reason", "string"},         {"waiting", "object"},
                    {"output", "string"},        {"omitted", "object"},        {"total_bytes", "integer"},
                    {"total_lines", "integer"},  {"lost_bytes", "integer"},    {"binary", "boolean"},
                    {"encoding", "string"},      {"duration_ms", "integer"},   {"cpu_ms", "integer"},
                    {"max_rss_kib", "integer"},  {"background", "array"},      {"ports", "array"},
                    {"provider", "string"},      {"integration", "string"},    {"verdict", "object"},
                    {"approval", "string"},      {"pid", "integer"},           {"process_group", "integer"},
                    {"time_left_ms", "integer"}, {"ended_background", "array"}});
  json::object state;
  state["type"] = "string";
  state["enum"] =
      json::array{"pending_approval", "queued",      "running", "awaiting_input",  "exited", "signaled",
                  "timed_out",        "interrupted", "denied",  "failed_to_start", "lost",   "skipped"};
  schema["properties"].get_object()["state"] = std::move(state);
  schema["required"] = json::array{"state"};
  return schema;
}

json::object batch_schema() {
  json::object schema;
  schema["type"] = "object";
  schema["properties"] =
      json::object{{"results", json::object{{"type", "array"}, {"items", result_schema()}}}};
  schema["required"] = json::array{"results"};
  return schema;
}

}  // namespace ttyward::mcp::tools
