// One tool: what clients are told about it, and what it does. Each group of tools has a file; tool_table.cc
// lists them.
#pragma once

#include <span>
#include <vector>

#include "mcp/catalog.h"
#include "mcp/request.h"
#include "mcp/tools/arguments.h"
#include "mcp/tools/context.h"
#include "wire/types/arguments.h"

namespace ttyward::mcp::tools {

// What clients assume of a tool that says nothing is the worst: it writes, destroys, and reaches out. Only
// what differs from that is told, and always whether it only reads.
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
// `told`: whether clients are told of `view` and `max_chars`, which are understood anyway.
std::vector<Argument> with_view(std::vector<Argument> arguments, bool told = true);
// `view`, `max_chars` and `max_lines`, into the arguments of a call; the daemon's configuration says what
// holds otherwise.
void add_view(const json::object& values, wire::ViewArguments& view);
// The same for lines that were asked for by number: as they are, from one end.
enum class End : uint8_t { First, Last };
void add_lines_view(const json::object& values, End end, wire::ViewArguments& view);
// Whether the caller wants the whole object of the protocol.
bool wants_detail(const json::object& values);

// Schemas of results: what is always there. A Result, and any object.
json::object result_schema();
json::object any_schema();

}  // namespace ttyward::mcp::tools
