// Deletes files, and makes files ahead, on a thread of its own.
//
// Freeing a file's blocks can take milliseconds where the disk is told of each of them, and the loop must not
// wait for that. Who finds a file that was to go, after a crash, deletes it again.
//
// Thread rule: later() on one thread.
#pragma once

#include <condition_variable>
#include <deque>
#include <functional>
#include <mutex>
#include <thread>

namespace ttyward::engine {

class Sweeper {
 public:
  Sweeper() = default;
  Sweeper(const Sweeper&) = delete;
  Sweeper& operator=(const Sweeper&) = delete;
  ~Sweeper();  // when all is done

  // `job` uses nothing that others change. Done at once where there is no thread to be had.
  void later(std::function<void()> job);

 private:
  void work();

  std::mutex mutex_;
  std::condition_variable changed_;
  std::deque<std::function<void()>> jobs_;  // guarded by mutex_
  bool ending_ = false;                     // guarded by mutex_
  std::thread thread_;
};

}  // namespace ttyward::engine
