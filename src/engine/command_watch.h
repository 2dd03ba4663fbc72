// Drives the life of a terminal's command (command/CommandLife): its time limits, and
// looks at whether it waits for input.
//
// Nobody polls: the kernel is asked while somebody wants to know, when the command has
// been silent for a while, and less and less often.
#pragma once

#include <functional>

#include "engine/live_terminal.h"
#include "engine/timer.h"

namespace ttyward::engine {

class CommandWatch {
 public:
  struct Hooks {
    // Its caller has an answer, and it is not over: a limit was reached, or it was ended.
    std::function<void(Command&)> answered;
    // It has exited: what it left behind is to be listed.
    std::function<void(Command&)> list_left_behind;
    // True: what the kernel says is not about the command.
    std::function<bool(const pty::RunState&)> about_something_else;
  };

  CommandWatch(LiveTerminal& live, Hooks hooks);

  // Something happened to the command that runs or is queued: does what its life asks for.
  void drive();
  // Something was typed to it; whether that was enough the kernel will say.
  void input_given();
  // While somebody wants to know, the kernel is asked about input.
  void want_input_state(int by);
  // Asks now, and notes what the command waits for.
  void look(HolderPort::Looked done);
  void stop() { timer_.cancel(); }

 private:
  void looked(const base::Result<pty::RunState>& state);

  LiveTerminal& live_;
  const Hooks hooks_;
  Timer timer_;
  int interest_ = 0;
};

}  // namespace ttyward::engine
