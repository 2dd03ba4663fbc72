// Interrupts what runs in a terminal, and brings a command in a shell to its end
// without hitting the shell.
//
// A command that was just typed is not in the foreground yet: a signal sent now would hit
// the shell, or be forgotten with the line it was about to read. And a process that is
// just becoming a program may lose a signal on the way. So an interrupt is looked after
// for a moment.
#pragma once

#include <sys/types.h>

#include <functional>
#include <string>

#include "engine/live_terminal.h"
#include "engine/timer.h"

namespace ttyward::engine {

class Interrupter {
 public:
  // `before`: called right before Ctrl-C goes out.
  Interrupter(LiveTerminal& live, std::function<void()> before);

  // Now, or as soon as the command has begun.
  void interrupt();
  // It has begun, or the holder has come: an interrupt that is due goes out.
  void catch_up();
  // Interrupt, TERM, KILL to the foreground, each after a grace, until the command is over.
  void bring_down();
  void command_over();
  void stop();

  pid_t foreground_group() const;

 private:
  bool dies_of_interrupt(pid_t pid) const;
  void again(const std::string& command_id, bool shell_was_in_front, int looks);
  void climb(int rung);

  LiveTerminal& live_;
  const std::function<void()> before_;
  Timer again_timer_;
  Timer climb_timer_;
  bool due_ = false;  // once the command has begun
};

}  // namespace ttyward::engine
