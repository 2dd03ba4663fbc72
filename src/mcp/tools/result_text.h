// A command's Result as text for a model: what happened, the output, what was left out and how to get it, and
// what the command waits for and how to answer. And the same Result cleaned for structuredContent.
//
// Pure.
#pragma once

#include <string>

#include "mcp/json.h"
#include "mcp/tools/visible_text.h"

namespace ttyward::mcp::tools {

// Every text in it made visible: no escape reaches a model through a field either.
json::value visible_value(const json::value& value);

std::string result_text(const json::object& result, const Fence& fence);
// One line on a terminal: id, name, state, folder, what it runs.
std::string terminal_line(const json::object& terminal);
// Whether a Result says that the command did not run at all.
bool did_not_run(const json::object& result);

// What is missing of an output, and how to get it.
std::string omitted_text(const json::object& omitted, int64_t total_lines, const std::string& id);
// "1.2 s", "3 min 5 s".
std::string duration_text(int64_t ms);

}  // namespace ttyward::mcp::tools
