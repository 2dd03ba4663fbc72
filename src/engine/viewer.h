// Somebody who watches a terminal's screen.
//
// Flow at a glance
//   terminal changes → at most every 16 ms: on_ready → take(): what changed since the last one was taken
//
// There is no queue: who takes late gets one delta, of now. Thread rule: the loop's.
#pragma once

#include <chrono>
#include <functional>
#include <memory>
#include <optional>

#include "engine/terminal.h"
#include "io/loop.h"
#include "vt/delta.h"

namespace ttyward::engine {

class Viewer final : private Watcher {
 public:
  // `on_ready` is called from the loop whenever there is something to be taken, and once more when the
  // terminal has ended or is gone.
  Viewer(io::Loop& loop, Terminal& terminal, std::function<void()> on_ready);
  Viewer(const Viewer&) = delete;
  Viewer& operator=(const Viewer&) = delete;
  ~Viewer();

  bool ready() const { return ready_; }
  // Nothing: it is not ready, or nothing has changed that can be seen.
  std::optional<vt::Delta> take();
  // Everything that is there, whether or not it was taken before.
  vt::Delta take_all();
  bool closed() const { return terminal_ == nullptr || !terminal_->live(); }

 private:
  using Clock = std::chrono::steady_clock;
  void on_change(Terminal& terminal, uint32_t changes) override;
  void on_destroyed() override;
  void schedule();
  vt::Delta changes(vt::Seq seen);

  io::Loop& loop_;
  Terminal* terminal_;  // null once it is gone
  std::function<void()> on_ready_;
  std::shared_ptr<bool> alive_ = std::make_shared<bool>(true);
  vt::Seq seen_ = 0;
  vt::Delta::Look look_;
  bool ready_ = false;
  Clock::time_point last_;
  io::Loop::TimerId timer_ = 0;
};

}  // namespace ttyward::engine
