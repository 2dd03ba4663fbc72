// Watches the time limits of a terminal's command, and whether it waits for input.
//
// Nobody polls: the kernel is asked while somebody wants to know, when the command has
// been silent for a while, and less and less often.
#pragma once

#include <chrono>
#include <functional>
#include <string>

#include "engine/live_terminal.h"
#include "engine/timer.h"

namespace ttyward::engine {

class CommandWatch {
 public:
  using Clock = std::chrono::steady_clock;
  struct Hooks {
    // A limit is reached.
    std::function<void(std::string reason)> limit_reached;
    // True: what the kernel says is not about the command.
    std::function<bool(const pty::RunState&)> about_something_else;
  };

  CommandWatch(LiveTerminal& live, Hooks hooks);

  // The limits of the command that runs or is queued.
  void arm();
  // The command printed something.
  void output_came();
  // Something was typed to it; whether that was enough the kernel will say.
  void input_given();
  // While somebody wants to know, the kernel is asked about input.
  void want_input_state(int by);
  void look_when_silent();
  // Asks now, and notes what the command waits for.
  void look(HolderPort::Looked done);
  void command_over();
  void stop();

 private:
  void check_limits();
  void looked(const base::Result<pty::RunState>& state);
  void runs_again(Command& command);

  LiveTerminal& live_;
  const Hooks hooks_;
  Timer limit_timer_;
  Timer look_timer_;
  int interest_ = 0;
  int input_looks_ = 0;  // in a row that found somebody waiting
};

}  // namespace ttyward::engine
