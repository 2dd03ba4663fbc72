// Whether a line can change anything in the shell that runs it, other than its folder.
//
// A shell tells at each prompt what changed of its variables, aliases, functions and options, and finding
// that out is most of what our hooks cost. After a line that only runs programs and prints there is nothing
// to find: the shell is told so with the nonce of that line (shell/command_tracker.h).
//
// Doubt counts as a change. Pure.
#pragma once

#include <string_view>

#include "shell/reading_state.h"

namespace ttyward::engine {

bool is_quiet_line(std::string_view line, const shell::ReadingState& reading);

}  // namespace ttyward::engine
