// Wall-clock time as the protocols have it.
#pragma once

#include <cstdint>
#include <ctime>

namespace ttyward::base {

// Milliseconds since the epoch.
inline int64_t unix_ms() {
  timespec now{};
  ::clock_gettime(CLOCK_REALTIME, &now);
  return static_cast<int64_t>(now.tv_sec) * 1000 + now.tv_nsec / 1'000'000;
}

}  // namespace ttyward::base
