// Times as people read them: one form everywhere, in their own time zone. In JSON times are RFC 3339 in UTC.
#pragma once

#include <cstdint>
#include <string>

namespace ttyward::cli {

// 2026-11-15 08:30:00
std::string time_text(int64_t ms);

}  // namespace ttyward::cli
