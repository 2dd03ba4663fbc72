#include "store/worker.h"

#include <memory>
#include <utility>

#include "base/thread.h"

namespace ttyward::store {

Worker::Worker(Store store, size_t queue_limit)
    : Worker([kept = std::make_shared<Store>(
                  std::move(store))] { return base::Result<Store>(std::move(*kept)); },
             queue_limit) {}

Worker::Worker(Open open, size_t queue_limit) : open_(std::move(open)), limit_(queue_limit) {
  begin();
}

void Worker::begin() {
  if (thread_.joinable()) return;
  if (auto thread = base::start_thread([this] { run(); })) thread_ = std::move(*thread);
}

Worker::~Worker() {
  {
    const std::lock_guard lock(mutex_);
    ending_ = true;
  }
  wake_.notify_one();
  if (thread_.joinable()) thread_.join();
}

bool Worker::post(Work work, Otherwise otherwise) {
  begin();
  {
    const std::lock_guard lock(mutex_);
    if (queue_.size() >= limit_) {
      ++refused_;
      return false;
    }
    queue_.push_back({std::move(work), std::move(otherwise)});
    ++posted_;
  }
  wake_.notify_one();
  return true;
}

void Worker::drain() {
  if (!thread_.joinable()) return;
  std::unique_lock lock(mutex_);
  done_.wait(lock, [this, until = posted_] { return finished_ >= until; });
}

uint64_t Worker::refused() const {
  const std::lock_guard lock(mutex_);
  return refused_;
}

void Worker::run() {
  base::Result<Store> store = open_();
  std::unique_lock lock(mutex_);
  while (true) {
    wake_.wait(lock, [this] { return !queue_.empty() || ending_; });
    if (queue_.empty()) return;
    {
      const Posted posted = std::move(queue_.front());
      queue_.pop_front();
      lock.unlock();
      if (store) {
        posted.work(*store);
      } else if (posted.otherwise) {
        posted.otherwise(store.error());
      }
      // What it holds goes before anybody is told that it is done.
    }
    lock.lock();
    ++finished_;
    done_.notify_all();
  }
}

}  // namespace ttyward::store
