// Several commands in one shell, with a true result for each.
//
// One bash evaluates them in turn, so that a cd or a variable of one is there for
// the next. Before and after each it prints a mark (OSC 633 C and D) that carries
// a nonce, the exit status of every part of the last pipeline, the time and the
// folder; the marks go to the terminal itself, whatever the commands do to their
// standard output. A command that ends the shell (exit, set -e) has no D mark: its
// status is then the shell's own, from wait(2).
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "command/running_command.h"
#include "terminal/result.h"

namespace ttyward::command {

enum class OnFailure : uint8_t { Stop, KeepGoing };

struct Batch {
  std::vector<std::string> commands;
  OnFailure on_failure = OnFailure::Stop;
  std::string nonce;

  // The program that runs them all.
  std::vector<std::string> argv(const std::string& bash) const;
};

struct BatchResult {
  std::vector<terminal::CommandResult> results;  // of those that ran, in order
  std::vector<std::string> not_run;
  terminal::CommandResult shell;  // of the whole: time limits, start failures

  // Of the first command that failed; 0 if none did.
  int shell_code() const;
};

// Takes the finished run of `batch` apart.
BatchResult split_batch(const Batch& batch, RunningCommand& run, const terminal::ViewLimits& view);

}  // namespace ttyward::command
