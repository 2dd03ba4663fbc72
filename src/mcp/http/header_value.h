// Header values that repeat what a body says: plain, or "=?base64?…?=" where they could not be written
// plainly.
#pragma once

#include <optional>
#include <string>

#include "mcp/json.h"

namespace ttyward::mcp {

// Null if there is none or it is badly encoded.
std::optional<std::string> decode_header_value(const std::optional<std::string>& raw);

// Whether the header says the same as the argument: both missing (null counts as missing), or equal as text.
bool header_repeats(const std::optional<std::string>& raw, const json::value* argument);

}  // namespace ttyward::mcp
