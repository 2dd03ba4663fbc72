// A command's result, as the daemon tells it, in a person's words and as an exit code.
#pragma once

#include <string>
#include <vector>

#include "wire/types/objects.h"

namespace ttyward::cli {

// What a shell would make of it: the code itself, 128 + signal, 124 for a time limit, 126 for a command
// that was denied, 125 for a failure of ours; kExitNotYet while it has not ended.
int result_code(const wire::CommandResult& result);

// Whether a command in this state has not ended yet.
bool is_open(const std::string& state);

// What is not in the exit code and worth saying, one line each. `terminal` is how the person calls it.
std::vector<std::string> result_words(const wire::CommandResult& result, const std::string& terminal);
// What a command waits for, and how to answer.
std::vector<std::string> waiting_words(const wire::Waiting& waiting, const std::string& terminal);

// "exit 0", "SIGKILL", "running", "timed out": for tables.
std::string how_it_ended(const wire::CommandResult& result);

}  // namespace ttyward::cli
