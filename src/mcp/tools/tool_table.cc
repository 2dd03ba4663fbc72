#include <algorithm>
#include <utility>

#include "base/check.h"
#include "mcp/tools/tool.h"
#include "wire/types/objects.h"

namespace ttyward::mcp::tools {
namespace {

json::object nullable(const char* type) {
  return json::object{{"type", json::array{type, "null"}}};
}

const char* type_of(const wire::Shape& shape) {
  using Kind = wire::Shape::Kind;
  switch (shape.kind) {
    case Kind::Truth:
      return "boolean";
    case Kind::Number:
    case Kind::Duration:
      return "integer";
    case Kind::List:
    case Kind::Pair:
      return "array";
    case Kind::Object:
    case Kind::Texts:
      return "object";
    case Kind::Text:
    case Kind::Moment:
    case Kind::Base64:
    case Kind::Either:
      break;
  }
  return "string";
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

void add_view(const json::object& values, wire::ViewArguments& view) {
  view.lines = integer_at(values, "max_lines");
  view.chars = integer_at(values, "max_chars");
}

json::object answer_schema(const wire::Shape& shape, std::initializer_list<std::string_view> only) {
  json::object properties;
  for (const wire::ShapeField& field : shape.fields) {
    if (only.size() == 0 || std::find(only.begin(), only.end(), field.name) != only.end())
      properties[field.name] = nullable(type_of(field.shape));
  }
  // A name that the protocol does not have (any more).
  TTYWARD_CHECK(only.size() == 0 || properties.size() == only.size());
  json::object schema;
  schema["type"] = "object";
  schema["properties"] = std::move(properties);
  return schema;
}

json::object result_schema() {
  const wire::Shape shape = wire::shape_of<wire::CommandResult>();
  json::object schema = answer_schema(shape);
  for (const wire::ShapeField& field : shape.fields) {
    if (field.name != "state") continue;
    json::array words;
    for (const std::string& word : field.shape.words) words.emplace_back(word);
    schema["properties"].get_object()["state"] = json::object{{"type", "string"}, {"enum", std::move(words)}};
  }
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
