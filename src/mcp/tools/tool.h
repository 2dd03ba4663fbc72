// One tool: what clients are told about it, and what it does. Each group of tools has a file; tool_table.cc
// lists them.
#pragma once

#include <span>
#include <vector>

#include "mcp/catalog.h"
#include "mcp/request.h"
#include "mcp/tools/arguments.h"
#include "mcp/tools/context.h"
#include "wire/shape.h"
#include "wire/types/arguments.h"

namespace ttyward::mcp::tools {

// All four are always told: what clients assume otherwise is the worst.
struct Hints {
  bool read_only;
  bool destructive;
  bool idempotent;
  bool open_world;
};

struct Tool {
  const char* name;
  const char* title;
  const char* description;
  std::vector<Argument> arguments;
  Hints hints;
  json::object (*output_schema)();
  TaskSupport tasks;
  // Ends the request. `values` has passed check_arguments.
  Detached (*run)(Context& context, RequestPtr request, json::object values);
};

std::span<const Tool> tool_table();
const Tool* find_tool(std::string_view name);

// Groups, for tool_table.cc.
std::vector<Tool> command_tools();
std::vector<Tool> terminal_tools();
std::vector<Tool> output_tools();
std::vector<Tool> control_tools();

// Arguments that several tools share.
Argument id_argument(const char* description);
Argument max_lines_argument();
Argument max_chars_argument();
// Both of them, into the arguments of a call; the daemon's configuration says what holds otherwise.
void add_view(const json::object& values, wire::ViewArguments& view);

// Schemas of results.
json::object result_schema();
json::object batch_schema();
// An object of the protocol: its members by name and type, all of which may be null. With `only`, just these.
json::object answer_schema(const wire::Shape& shape, std::initializer_list<std::string_view> only = {});

}  // namespace ttyward::mcp::tools
