// How long terminals that ended are kept, and what is left of them afterwards.
//
// The newest few are kept for those who ask later, more of them for a moment. The others go, with their
// files, off the way of those who wait for an answer. The ids of their commands are remembered longer: a
// caller who lost touch for a moment must not run one of them again.
//
// Thread rule: the loop's.
#pragma once

#include <deque>
#include <functional>
#include <memory>
#include <string>
#include <string_view>

#include "engine/settings.h"
#include "engine/sweeper.h"
#include "engine/terminal_list.h"
#include "engine/timer.h"
#include "journal/folder.h"

namespace ttyward::engine {

class Retention {
 public:
  using Forgotten = std::function<void(const Terminal&)>;

  // All of them outlive it. `owner` watches every terminal, and does not count as somebody who is still to be
  // told of one's end. `forgotten` is told of each that goes, right before.
  Retention(io::Loop& loop, const Settings& settings, TerminalList& terminals,
            std::shared_ptr<journal::Folder> journals, int logs, const Watcher& owner, Forgotten forgotten)
      : settings_(settings),
        terminals_(terminals),
        journals_(std::move(journals)),
        logs_(logs),
        owner_(owner),
        forgotten_(std::move(forgotten)),
        forget_timer_(loop),
        age_timer_(loop),
        trim_timer_(loop) {}

  // Those that are too many go, some at once and the rest soon.
  void forget_old();
  void forget_soon();
  // Memory goes back to the system, once there was a pause to do it in.
  void trim_soon();

  // This one now, unless somebody is still to be told of its end.
  bool forget_now(const Terminal& terminal);

  // The record of a command went.
  void note_forgotten(const std::string& command_id);
  // Whether there was such a command, of which nothing else is known any more. Of the last few thousand.
  bool forgot_command(std::string_view id) const;

 private:
  void forget(const std::string& id);

  const Settings& settings_;
  TerminalList& terminals_;
  const std::shared_ptr<journal::Folder> journals_;
  const int logs_;
  const Watcher& owner_;
  const Forgotten forgotten_;
  std::deque<std::string> forgotten_commands_;  // ids, oldest first
  Sweeper sweeper_;
  Timer forget_timer_;
  Timer age_timer_;
  Timer trim_timer_;
};

}  // namespace ttyward::engine
