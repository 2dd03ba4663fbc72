// Long work on the loop, a slice in each turn.
//
// Reading on in a flood, making an old output again, searching gigabytes: each is handed
// over as a function that works on until a given time. All of them together have one
// budget for a turn, and take turns within it, so that a turn of the loop stays short
// however many there are. Thread rule: the loop's.
#pragma once

#include <chrono>
#include <deque>
#include <functional>
#include <memory>

#include "io/loop.h"

namespace ttyward::engine {

class Slices {
 public:
  using Clock = io::Loop::Clock;
  // Works until `until` and not much longer. True: it is done.
  using Work = std::function<bool(Clock::time_point until)>;

  // Of one turn, for all of them; and of one before the next has its turn.
  static constexpr std::chrono::microseconds kTurn{2000};
  static constexpr std::chrono::microseconds kSlice{1000};

  explicit Slices(io::Loop& loop) : loop_(loop) {}
  Slices(const Slices&) = delete;
  Slices& operator=(const Slices&) = delete;
  ~Slices() { *alive_ = false; }

  // Begins from the loop, not within this call.
  void add(Work work);
  size_t size() const { return works_.size(); }

 private:
  void schedule();
  void turn();

  io::Loop& loop_;
  std::deque<Work> works_;
  bool scheduled_ = false;
  std::shared_ptr<bool> alive_ = std::make_shared<bool>(true);
};

}  // namespace ttyward::engine
