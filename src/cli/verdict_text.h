// A verdict as `check` and `rules test` show it to people.
#pragma once

#include <string>

#include "policy/verdict.h"

namespace ttyward::cli {

// On standard output.
void print_verdict(const std::string& command, const policy::Verdict& verdict);

}  // namespace ttyward::cli
