// Shells that are started ahead, so that opening a terminal like the last one takes no time.
//
//   expect()   somebody opened a shell like this: others like it are started when the loop is idle
//   take()     one that is ready and just as wanted
//
// Thread rule: the loop's.
#pragma once

#include <functional>
#include <optional>

#include "base/result.h"
#include "engine/settings.h"
#include "engine/terminal_list.h"
#include "engine/timer.h"

namespace ttyward::engine {

class ShellPool {
 public:
  using Start = std::function<base::Result<Terminal*>(TerminalSpec)>;

  // All of them outlive it. `start` adds to `terminals`.
  ShellPool(io::Loop& loop, const Settings& settings, const place::Place& place,
            const TerminalList& terminals, Start start)
      : settings_(settings), place_(place), terminals_(terminals), start_(std::move(start)), timer_(loop) {}

  // Null: none is ready.
  Terminal* take(const TerminalSpec& wanted);
  // The next shells are made like this one: a client that opened one often opens another like it.
  void expect(TerminalSpec spec);
  // What shells are to be like has changed: none is started until one was opened again.
  void forget_model() { model_.reset(); }
  // No more are started.
  void stop() { stopped_ = true; }

 private:
  bool may_start(const TerminalSpec& spec) const;
  void fill();
  void start_one();

  const Settings& settings_;
  const place::Place& place_;
  const TerminalList& terminals_;
  const Start start_;
  std::optional<TerminalSpec> model_;  // what they are like
  Timer timer_;
  bool stopped_ = false;
};

}  // namespace ttyward::engine
