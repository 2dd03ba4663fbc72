// A command's Result as text for a model: what happened, the output, what was left out and how to get it, and
// what the command waits for and how to answer. And the same Result made small for structuredContent.
//
// Pure.
#pragma once

#include <string>
#include <string_view>

#include "mcp/json.h"
#include "mcp/tools/visible_text.h"

namespace ttyward::mcp::tools {

// How a digest ends that has cut something: it says what, and where that is.
inline constexpr std::string_view kDigestCut = ": read_output]\n";

// Every text in it made visible: no escape reaches a model through a field either.
json::value visible_value(const json::value& value);

// The Result without what is null, empty, or was said by the caller: complete by itself, and small.
json::object lean_result(const json::object& result);
// The same of a terminal, for lists.
json::object lean_terminal(const json::object& terminal);
// Without null and empty members, all the way down; every text visible.
json::value lean_value(const json::value& value);

enum class Echo : uint8_t { Nothing, Command };  // whether it begins with the command line
std::string result_text(const json::object& result, const Fence& fence, Echo echo = Echo::Nothing);
// One line on a terminal: id, name, state, folder, what it runs.
std::string terminal_line(const json::object& terminal);
// Whether a Result says that the command did not run at all.
bool did_not_run(const json::object& result);

// What is missing of an output, and how to get it.
std::string omitted_text(const json::object& omitted, int64_t total_lines, const std::string& id);
// "1.2 s", "3 min 5 s".
std::string duration_text(int64_t ms);

}  // namespace ttyward::mcp::tools
