#include "app/background.h"

#include <utility>

#include "base/thread.h"

namespace ttyward::app {

Background::~Background() {
  {
    const std::lock_guard lock(mutex_);
    ending_ = true;
    waiting_.clear();
  }
  changed_.notify_all();
  if (thread_.joinable()) thread_.join();
}

base::Result<void> Background::post(std::function<void()> work) {
  constexpr size_t kMostWaitingWork = 1024;
  const std::lock_guard lock(mutex_);
  if (waiting_.size() >= kMostWaitingWork)
    return base::fail(base::ErrorCode::Exhausted, "too much is being worked on; try again in a moment");
  if (!thread_.joinable()) {
    auto started = base::start_thread([this] { run(); });
    if (!started) return tl::unexpected(started.error());
    thread_ = std::move(*started);
  }
  waiting_.push_back(std::move(work));
  changed_.notify_one();
  return {};
}

void Background::run() {
  for (;;) {
    std::function<void()> work;
    {
      std::unique_lock lock(mutex_);
      changed_.wait(lock, [this] { return ending_ || !waiting_.empty(); });
      if (waiting_.empty()) return;
      work = std::move(waiting_.front());
      waiting_.pop_front();
    }
    work();
  }
}

}  // namespace ttyward::app
