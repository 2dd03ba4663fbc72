#include "engine/slices.h"

#include <algorithm>
#include <utility>

namespace ttyward::engine {

void Slices::add(Work work) {
  works_.push_back(std::move(work));
  schedule();
}

void Slices::schedule() {
  if (works_.empty() || std::exchange(scheduled_, true)) return;
  loop_.post([this, alive = alive_] {
    if (*alive) turn();
  });
}

void Slices::turn() {
  scheduled_ = false;
  const Clock::time_point end = Clock::now() + kTurn;
  // One after the other, each a slice, for as long as the turn has time; the rest goes on in the next one.
  for (Clock::time_point now = Clock::now(); !works_.empty() && now < end; now = Clock::now()) {
    Work work = std::move(works_.front());
    works_.pop_front();
    const std::shared_ptr<bool> alive = alive_;
    const bool done = work(std::min(end, now + kSlice));
    if (!*alive) return;
    if (!done) works_.push_back(std::move(work));
  }
  schedule();
}

}  // namespace ttyward::engine
