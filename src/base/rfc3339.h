// Moments as every protocol and file of ours has them: RFC 3339 in UTC with milliseconds.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace ttyward::base {

// 2026-11-16T03:37:00.123Z, from milliseconds since the epoch.
std::string rfc3339(int64_t ms);

// The same back; the fraction may have any number of digits or be left out, and an offset such as +02:00 is
// understood. Empty: this is no such moment.
std::optional<int64_t> parse_rfc3339(std::string_view text);

}  // namespace ttyward::base
