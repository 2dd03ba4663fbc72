#include "engine/watchers.h"

#include <algorithm>
#include <utility>

namespace ttyward::engine {

void Watchers::destroyed() {
  // By index: a watcher may remove itself or another one.
  for (size_t i = 0; i < watchers_.size(); i++) {
    if (watchers_[i] != nullptr) watchers_[i]->on_destroyed();
  }
}

void Watchers::remove(Watcher& watcher) {
  std::replace(watchers_.begin(), watchers_.end(), &watcher, static_cast<Watcher*>(nullptr));
}

bool Watchers::any_beside(const Watcher& me) const {
  return std::any_of(watchers_.begin(), watchers_.end(),
                     [&](const Watcher* watcher) { return watcher != nullptr && watcher != &me; });
}

void Watchers::changed(uint32_t changes) {
  changes_ |= changes;
  if (std::exchange(posted_, true)) return;
  loop_.post([this, alive = alive_] {
    if (*alive) tell();
  });
}

void Watchers::tell() {
  posted_ = false;
  const uint32_t changes = std::exchange(changes_, 0);
  const std::shared_ptr<bool> alive = alive_;
  for (size_t i = 0; i < watchers_.size(); i++) {
    if (watchers_[i] == nullptr) continue;
    watchers_[i]->on_change(terminal_, changes);
    if (!*alive) return;  // it destroyed the terminal
  }
  std::erase(watchers_, nullptr);
}

void Watchers::bytes(uint64_t offset, std::string_view bytes) {
  for (Watcher* watcher : watchers_) {
    if (watcher != nullptr) watcher->on_bytes(offset, bytes);
  }
}

void Watchers::command_bytes(const Command& command, std::string_view bytes) {
  for (Watcher* watcher : watchers_) {
    if (watcher != nullptr) watcher->on_command_bytes(command, bytes);
  }
}

}  // namespace ttyward::engine
