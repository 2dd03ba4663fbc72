// The time of day, for records and for people. Nothing is decided by it: expiry runs on the loop's clock.
#pragma once

#include <chrono>
#include <cstdint>

namespace ttyward::engine {

inline int64_t wall_clock_ms() {
  return std::chrono::duration_cast<std::chrono::milliseconds>(
             std::chrono::system_clock::now().time_since_epoch())
      .count();
}

}  // namespace ttyward::engine
