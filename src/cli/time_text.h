// Times as people read them: one form everywhere, in their own time zone. In JSON times are milliseconds
// since the epoch.
#pragma once

#include <cstdint>
#include <string>

namespace ttyward::cli {

// 2026-11-15 08:30:00
std::string time_text(int64_t ms);

}  // namespace ttyward::cli
