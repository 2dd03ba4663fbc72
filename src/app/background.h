// Work that would hold up the loop, on a thread of its own, one piece after the other.
#pragma once

#include <condition_variable>
#include <deque>
#include <functional>
#include <mutex>
#include <thread>

#include "base/result.h"

namespace ttyward::app {

class Background {
 public:
  Background() = default;
  Background(const Background&) = delete;
  Background& operator=(const Background&) = delete;
  // Finishes what was begun; what was not is dropped.
  ~Background();

  // Any thread. An error: there is no thread to be had, or too much waits already.
  base::Result<void> post(std::function<void()> work);

 private:
  void run();

  std::mutex mutex_;
  std::condition_variable changed_;
  std::deque<std::function<void()>> waiting_;  // guarded by mutex_
  bool ending_ = false;                        // guarded by mutex_
  std::thread thread_;                         // started with the first work
};

}  // namespace ttyward::app
