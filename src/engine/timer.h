// A timer that ends with its owner.
#pragma once

#include <utility>

#include "io/loop.h"

namespace ttyward::engine {

class Timer {
 public:
  explicit Timer(io::Loop& loop) : loop_(loop) {}
  Timer(const Timer&) = delete;
  Timer& operator=(const Timer&) = delete;
  ~Timer() { cancel(); }

  bool running() const { return id_ != 0; }
  // In place of what it was set to before.
  void after(io::Loop::Clock::duration delay, io::Loop::Task task) {
    at(io::Loop::Clock::now() + delay, std::move(task));
  }
  void at(io::Loop::Clock::time_point when, io::Loop::Task task) {
    cancel();
    id_ = loop_.at(when, [this, task = std::move(task)] {
      id_ = 0;
      task();
    });
  }
  void cancel() { loop_.cancel(id_); }

 private:
  io::Loop& loop_;
  io::Loop::TimerId id_ = 0;
};

}  // namespace ttyward::engine
