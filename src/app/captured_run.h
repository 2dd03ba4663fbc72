// A program of the person's, run in pipes for a bounded time.
#pragma once

#include <chrono>
#include <cstddef>
#include <string>

#include "pty/spawn.h"

namespace ttyward::app {

struct Captured {
  bool ended = false;  // by itself, and its output is complete
  int exit_code = -1;  // where it ended by itself and not by a signal
  std::string output;  // standard output; what it says on the other one is ignored
};

// Blocks: for a thread of its own. Ends early, and the program with it, when `patience` is over, when it has
// printed more than `most` bytes, or when `stop` becomes readable.
Captured captured_run(const pty::SpawnSpec& spec, std::chrono::milliseconds patience, size_t most, int stop);

}  // namespace ttyward::app
