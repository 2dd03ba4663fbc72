// From what a terminal's shell reports about itself to how policy reads a line for it.
#pragma once

#include <deque>
#include <memory>

#include "engine/command.h"
#include "gate/judge.h"
#include "shell/reading_state.h"

namespace ttyward::engine {

// `ran` are the commands that the shell was given so far. A shell that reports nothing is read as a fresh one
// of its language as long as none of them can have changed that; otherwise there is a doubt, and it asks.
policy::ShellReading reading_of(gate::Language language, const shell::ReadingState& state,
                                const std::deque<std::unique_ptr<Command>>& ran);

}  // namespace ttyward::engine
