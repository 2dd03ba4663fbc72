// One call for one command: runs it in its own terminal, waits for its end, and returns exactly how it
// ended.
//
//   const auto result = ttyward::run("make test");
//   std::cout << result.output.text;
//   return result.shell_code();
//
// Blocks the calling thread. What the command leaves in the background is hung up when it ends; a process
// that has left the terminal's session is not followed. A command that could not be started is a result with
// the state FailedToStart and the reason. For commands beside other work there is command::RunningCommand,
// which is driven by your own loop. May be called from several threads.
#pragma once

#include <chrono>
#include <string>
#include <vector>

#include "terminal/output_view.h"
#include "terminal/result.h"

namespace ttyward {

struct RunChoices {
  // NOLINTBEGIN(readability-redundant-member-init): so that designated initializers may leave them out
  std::string cwd{};                       // empty: this process's
  std::vector<std::string> environment{};  // NAME=value, beside the harmless part of this process's
  std::chrono::milliseconds timeout{0};    // 0: no limit
  std::chrono::milliseconds input_patience{
      1000};  // with a command that asks what nobody can answer; 0: for ever
  terminal::ViewLimits view{};
  // NOLINTEND(readability-redundant-member-init)
};

// `command` is a line for bash, or for sh where there is no bash.
terminal::CommandResult run(const std::string& command, const RunChoices& choices = {});

}  // namespace ttyward
