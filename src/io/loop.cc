#include "io/loop.h"

#include <sys/eventfd.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <memory>

namespace ttyward::io {

using std::chrono::milliseconds;

base::Result<std::unique_ptr<Loop>> Loop::create() {
  auto poller = Poller::create();
  if (!poller) return tl::unexpected(poller.error());
  base::UniqueFd wake(::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK));
  if (!wake) return base::fail_errno(errno, "cannot make an event descriptor");
  const int fd = wake.get();
  std::unique_ptr<Loop> loop(new Loop(std::move(*poller), std::move(wake)));
  if (auto added = loop->poller_.add(fd, EPOLLIN, *loop); !added) return tl::unexpected(added.error());
  return loop;
}

Loop::TimerId Loop::at(Clock::time_point when, Task task) {
  const TimerId id = ++last_timer_;
  timers_.emplace(std::pair(when, id), std::move(task));
  due_.emplace(id, when);
  // Whoever drives this loop from outside has to hear that the next turn is earlier now.
  if (!in_turn_ && timers_.begin()->first.second == id) wake();
  return id;
}

void Loop::cancel(TimerId& id) {
  if (id == 0) return;
  if (const auto found = due_.find(id); found != due_.end()) {
    timers_.erase(std::pair(found->second, id));
    due_.erase(found);
  }
  id = 0;
}

void Loop::post(Task task) {
  bool wake = false;
  {
    const std::lock_guard lock(mutex_);
    // The loop's own thread looks at the list before it waits, and a list that is not empty was announced.
    wake = posted_.empty() && turning_ != std::this_thread::get_id();
    posted_.push_back(std::move(task));
  }
  if (wake) this->wake();
}

void Loop::wake() {
  const uint64_t one = 1;
  (void)!::write(wake_.get(), &one, sizeof one);
}

void Loop::stop() {
  {
    const std::lock_guard lock(mutex_);
    stopped_ = true;
  }
  wake();
}

bool Loop::take_stop() {
  const std::lock_guard lock(mutex_);
  return std::exchange(stopped_, false);
}

std::optional<Loop::Clock::time_point> Loop::next_turn() {
  {
    const std::lock_guard lock(mutex_);
    if (!posted_.empty()) return Clock::now();
  }
  if (timers_.empty()) return std::nullopt;
  return timers_.begin()->first.first;
}

void Loop::on_ready(int fd, uint32_t) {
  uint64_t count = 0;
  (void)!::read(fd, &count, sizeof count);
}

void Loop::run_posted() {
  std::vector<Task> tasks;
  {
    const std::lock_guard lock(mutex_);
    // Tasks posted by these run in the next turn, so that a task that posts itself cannot block the loop.
    tasks.swap(posted_);
  }
  for (Task& task : tasks) task();
}

void Loop::fire_due() {
  // Timers set by a timer wait for the next round, so that one that sets itself anew cannot starve the rest.
  const TimerId newest = last_timer_;
  auto next = timers_.begin();
  while (next != timers_.end() && next->first.first <= now_) {
    if (next->first.second > newest) {
      ++next;
      continue;
    }
    Task task = std::move(next->second);
    due_.erase(next->first.second);
    timers_.erase(next);
    task();
    next = timers_.begin();
  }
}

void Loop::turn(Clock::duration longest) {
  Clock::duration wait = longest;
  {
    const std::lock_guard lock(mutex_);
    turning_ = std::this_thread::get_id();
    if (!posted_.empty()) wait = Clock::duration::zero();
  }
  in_turn_ = true;
  if (!timers_.empty()) wait = std::min(wait, timers_.begin()->first.first - Clock::now());
  // Rounded up: rounded down, the loop would spin through the last millisecond before a timer.
  const auto rounded = std::chrono::ceil<milliseconds>(std::max(wait, Clock::duration::zero()));
  poller_.wait(static_cast<int>(rounded.count()));
  now_ = Clock::now();
  run_posted();
  fire_due();
  in_turn_ = false;
  const std::lock_guard lock(mutex_);
  turning_ = {};
}

void Loop::run() {
  while (!take_stop()) turn(std::chrono::hours(1));
}

}  // namespace ttyward::io
