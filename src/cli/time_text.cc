#include "cli/time_text.h"

#include <ctime>

namespace ttyward::cli {

std::string time_text(int64_t ms) {
  const auto seconds = static_cast<time_t>(ms / 1000);
  tm parts{};
  ::localtime_r(&seconds, &parts);
  char text[64];
  std::strftime(text, sizeof text, "%Y-%m-%d %H:%M:%S", &parts);
  return text;
}

}  // namespace ttyward::cli
