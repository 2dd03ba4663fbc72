#include "app/open_calls.h"

#include <utility>

namespace ttyward::app {

uint64_t OpenCalls::add(const ReplyBase& reply, std::function<void()> cancelled) {
  const uint64_t key = ++last_key_;
  calls_.emplace(key, std::make_unique<OpenCall>());
  reply.on_cancel([this, alive = alive_, key, cancelled = std::move(cancelled)] {
    if (!*alive) return;
    if (cancelled) cancelled();
    end(key);
  });
  return key;
}

OpenCall* OpenCalls::find(uint64_t key) {
  const auto found = calls_.find(key);
  return found != calls_.end() ? found->second.get() : nullptr;
}

void OpenCalls::end(uint64_t key) {
  const auto found = calls_.find(key);
  if (found == calls_.end()) return;
  loop_.cancel(found->second->timer);
  std::shared_ptr<OpenCall> gone = std::move(found->second);
  calls_.erase(found);
  loop_.post([gone] {});
}

void OpenCalls::after(uint64_t key, std::chrono::milliseconds time, std::function<void()> then) {
  OpenCall* call = find(key);
  if (call == nullptr) return;
  call->timer = loop_.after(time, [this, key, then = std::move(then)] {
    OpenCall* still = find(key);
    if (still == nullptr) return;
    still->timer = 0;
    then();
  });
}

}  // namespace ttyward::app
