// The one loop of a program that serves many: descriptors, timers, and work handed
// over from other threads.
//
// Flow at a glance: run() waits for the earliest of a descriptor, a timer and a
// post(); tells handlers; runs what was posted; fires timers that are due. Nothing
// a callback does may block.
//
// Thread rule: everything on the thread that runs the loop, but post() and stop(),
// which any thread may call.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <thread>
#include <utility>
#include <vector>

#include "base/result.h"
#include "base/unique_fd.h"
#include "io/poller.h"

namespace ttyward::io {

class Loop final : private Poller::Handler {
 public:
  using Clock = std::chrono::steady_clock;
  using Task = std::function<void()>;
  using TimerId = uint64_t;  // 0 is none

  static base::Result<std::unique_ptr<Loop>> create();
  Loop(const Loop&) = delete;
  Loop& operator=(const Loop&) = delete;

  Poller& poller() { return poller_; }
  Clock::time_point now() const { return now_; }  // as of this turn

  TimerId after(Clock::duration delay, Task task) { return at(Clock::now() + delay, std::move(task)); }
  TimerId at(Clock::time_point when, Task task);
  // Of a timer that fired, was cancelled or never was: does nothing. Sets `id` to none.
  void cancel(TimerId& id);

  // Runs `task` on the loop, soon, after the callback that is running now.
  void post(Task task);

  void run();
  void stop();
  // One round: waits at most `longest`.
  void turn(Clock::duration longest);

  // --- for another loop that drives this one: turn(0) whenever fd() is readable or next_turn() has come
  int fd() const { return poller_.fd(); }
  // Null: not before fd() is readable.
  std::optional<Clock::time_point> next_turn();
  // Whether stop() was called since the last time.
  bool take_stop();

 private:
  explicit Loop(Poller poller, base::UniqueFd wake) : poller_(std::move(poller)), wake_(std::move(wake)) {}
  void on_ready(int fd, uint32_t events) override;
  void run_posted();
  void wake();
  void fire_due();

  Poller poller_;
  base::UniqueFd wake_;
  Clock::time_point now_ = Clock::now();
  std::map<std::pair<Clock::time_point, TimerId>, Task> timers_;
  std::map<TimerId, Clock::time_point> due_;
  TimerId last_timer_ = 0;

  std::mutex mutex_;
  std::vector<Task> posted_;  // guarded by mutex_
  bool stopped_ = false;      // guarded by mutex_
  // Guarded by mutex_: who is inside turn(). What this thread posts need not wake it, for it is awake.
  std::thread::id turning_;
  bool in_turn_ = false;  // the same, for the loop thread alone
};

}  // namespace ttyward::io
