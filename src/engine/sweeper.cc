#include "engine/sweeper.h"

#include <csignal>
#include <utility>

#include "base/thread.h"

namespace ttyward::engine {

Sweeper::~Sweeper() {
  if (!thread_.joinable()) return;
  {
    const std::lock_guard lock(mutex_);
    ending_ = true;
  }
  changed_.notify_one();
  thread_.join();
}

void Sweeper::later(std::function<void()> job) {
  if (!thread_.joinable()) {
    auto thread = base::start_thread([this] { work(); });
    if (!thread) return job();
    thread_ = std::move(*thread);
  }
  {
    const std::lock_guard lock(mutex_);
    jobs_.push_back(std::move(job));
  }
  changed_.notify_one();
}

void Sweeper::work() {
  // Signals are the loop's.
  sigset_t all;
  ::sigfillset(&all);
  ::pthread_sigmask(SIG_SETMASK, &all, nullptr);

  std::unique_lock lock(mutex_);
  for (;;) {
    changed_.wait(lock, [this] { return ending_ || !jobs_.empty(); });
    if (jobs_.empty()) return;
    const std::function<void()> job = std::move(jobs_.front());
    jobs_.pop_front();
    lock.unlock();
    job();
    lock.lock();
  }
}

}  // namespace ttyward::engine
