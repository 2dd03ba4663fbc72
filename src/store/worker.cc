#include "store/worker.h"

#include <memory>
#include <utility>

namespace ttyward::store {

Worker::Worker(Store store, size_t queue_limit)
    : Worker([kept = std::make_shared<Store>(
                  std::move(store))] { return base::Result<Store>(std::move(*kept)); },
             queue_limit) {}

Worker::Worker(Open open, size_t queue_limit)
    : limit_(queue_limit), thread_([this, open = std::move(open)] { run(open); }) {}

Worker::~Worker() {
  {
    const std::lock_guard lock(mutex_);
    ending_ = true;
  }
  wake_.notify_one();
  thread_.join();
}

bool Worker::post(Work work, Otherwise otherwise) {
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
  std::unique_lock lock(mutex_);
  done_.wait(lock, [this, until = posted_] { return finished_ >= until; });
}

uint64_t Worker::refused() const {
  const std::lock_guard lock(mutex_);
  return refused_;
}

void Worker::run(const Open& open) {
  base::Result<Store> store = open();
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
