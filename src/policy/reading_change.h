// Whether a line, once it ran, may have changed how its shell reads the next one.
#pragma once

#include <string_view>

#include "policy/shell_reading.h"

namespace ttyward::policy {

// Aliases, functions, options, IFS, a sourced file, another shell in its place … What is not understood may.
bool may_change_reading(std::string_view line, const ShellReading& reading);

}  // namespace ttyward::policy
