// A store on a thread of its own, so that an event loop never waits for a disk.
//
// Work runs in the order it was posted, one piece at a time. What was posted is
// done before the destructor returns. The queue is bounded: when the disk cannot
// keep up, `post` says no and the caller decides what that means.
//
// Thread rule: any thread may post and drain; the store is touched by the
// worker's thread alone. Work must not throw, and must not call `drain`.
#pragma once

#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <mutex>
#include <thread>

#include "base/result.h"
#include "store/store.h"

namespace ttyward::store {

class Worker {
 public:
  using Work = std::function<void(Store&)>;
  using Open = std::function<base::Result<Store>()>;
  using Otherwise = std::function<void(const base::Error&)>;
  // About a minute of a very busy daemon; each piece is a few hundred bytes.
  static constexpr size_t kDefaultQueue = 4096;

  explicit Worker(Store store, size_t queue_limit = kDefaultQueue);
  // Opened by the thread, before the first work: a new database takes its time. If it cannot be opened, what
  // is posted is not done.
  explicit Worker(Open open, size_t queue_limit = kDefaultQueue);
  Worker(const Worker&) = delete;
  Worker& operator=(const Worker&) = delete;
  ~Worker();

  // False, and `work` is dropped, when the queue is full. `otherwise` is called in its place, by the thread,
  // when there is no store.
  [[nodiscard]] bool post(Work work, Otherwise otherwise = {});
  // Waits until all that was posted before this call is done.
  void drain();
  // How often `post` said no.
  uint64_t refused() const;

 private:
  struct Posted {
    Work work;
    Otherwise otherwise;
  };
  void begin();
  void run();

  const Open open_;
  const size_t limit_;

  mutable std::mutex mutex_;
  std::condition_variable wake_;  // there is work, or the end has come
  std::condition_variable done_;  // a piece was finished
  std::deque<Posted> queue_;
  uint64_t posted_ = 0;
  uint64_t finished_ = 0;
  uint64_t refused_ = 0;
  bool ending_ = false;

  std::thread
      thread_;  // last: everything else is there when it starts; begun again by a post if it could not
};

}  // namespace ttyward::store
