// A command's result, as the daemon tells it, in a person's words and as an exit code.
#pragma once

#include <string>
#include <vector>

#include <boost/json/object.hpp>

namespace ttyward::cli {

// What a shell would make of it: the code itself, 128 + signal, 124 for a time limit, 126 for a command
// that was denied, 125 for a failure of ours; kExitNotYet while it has not ended.
int result_code(const boost::json::object& result);

// What is not in the exit code and worth saying, one line each. `terminal` is how the person calls it.
std::vector<std::string> result_words(const boost::json::object& result, const std::string& terminal);
// What a command waits for, and how to answer.
std::vector<std::string> waiting_words(const boost::json::object& waiting, const std::string& terminal);

// "exit 0", "SIGKILL", "running", "timed out": for tables.
std::string how_it_ended(const boost::json::object& result);

}  // namespace ttyward::cli
