// Answers what programs ask their terminal (its size, its colours, where the cursor is).
//
// An answer is typed, so it goes out only while a program reads keys: a shell at its
// prompt would take it for the beginning of its next command, and whoever writes a file
// that somebody shows could write commands. How far questions were answered is on disk,
// so that an engine after us neither repeats an answer nor leaves a question open.
#pragma once

#include <chrono>
#include <functional>
#include <string>

#include "base/unique_fd.h"
#include "engine/live_terminal.h"
#include "engine/timer.h"

namespace ttyward::engine {

class QueryReplies {
 public:
  using Clock = std::chrono::steady_clock;
  // Whether the kernel's answer says that a shell waits for a command.
  using ShellReads = std::function<bool(const pty::RunState&)>;

  QueryReplies(LiveTerminal& live, int logs, ShellReads shell_reads);

  void add(std::string replies);
  // Replies that the daemon before this one did not send.
  void take_over(std::string replies);
  // The program that asked is gone.
  void clear();
  void stop() { timer_.cancel(); }

  // How far the daemon before this one had answered.
  static uint64_t answered_to(int logs, const std::string& id);

 private:
  bool may_answer() const;
  void answer();
  void answer_if_read(const base::Result<pty::RunState>& state);
  bool shell_is_next(const pty::RunState& state) const;

  LiveTerminal& live_;
  const int logs_;
  const ShellReads shell_reads_;
  std::string replies_;  // not sent yet
  Clock::time_point since_;
  bool asking_ = false;      // the kernel, whether somebody reads
  bool shell_told_ = false;  // that something will be typed which it must not take for a command
  Timer timer_;
  base::UniqueFd file_;
};

}  // namespace ttyward::engine
