#include "engine/ready_logs.h"

#include <utility>

#include "engine/terminal_log.h"

namespace ttyward::engine {
namespace {
constexpr size_t kKept = 4;
}  // namespace

base::UniqueFd ReadyLogs::take() {
  const std::lock_guard lock(mutex_);
  if (files_.empty()) return {};
  base::UniqueFd file = std::move(files_.back());
  files_.pop_back();
  return file;
}

void ReadyLogs::fill() {
  for (;;) {
    {
      const std::lock_guard lock(mutex_);
      if (files_.size() >= kKept) return;
    }
    auto file = TerminalLog::make_ahead(folder_);  // nobody waits for it, so not with the mutex held
    if (!file) return;
    const std::lock_guard lock(mutex_);
    files_.push_back(std::move(*file));
  }
}

}  // namespace ttyward::engine
