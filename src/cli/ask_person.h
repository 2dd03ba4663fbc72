// A question to the person at the terminal we were called from.
//
// Only an explicit y or yes, typed after the question was shown, is a yes. No
// terminal, end of file, Ctrl-C and everything else is a no. Standard input is
// never taken for an answer: it may be a pipe that somebody else fills.
#pragma once

#include <string>

namespace ttyward::cli {

// Whether somebody can be asked: we have a terminal, and they see it.
bool can_ask_person();

// Shows `question` and " [y/N] ".
bool ask_person(const std::string& question);

}  // namespace ttyward::cli
