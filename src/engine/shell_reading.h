// From what a terminal's shell reports about itself to how policy reads a line for it.
#pragma once

#include "engine/gate_judge.h"
#include "shell/reading_state.h"

namespace ttyward::engine {

// A shell that reports nothing is read as a fresh one of its language.
policy::ShellReading reading_of(Language language, const shell::ReadingState& state);

}  // namespace ttyward::engine
