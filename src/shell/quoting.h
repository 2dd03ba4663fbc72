// One argument, written so that a shell reads it back as exactly that argument.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "shell/shell_kind.h"

namespace ttyward::shell {

// For sh and everything like it: bash, zsh, dash, ksh. Words without special characters stay as they are.
std::string quote_posix(std::string_view argument);
std::string quote_fish(std::string_view argument);
std::string quote_powershell(std::string_view argument);
// For a line of cmd.exe that starts a program which splits its line as the C runtime does. A line end or a
// NUL cannot be written there; `%` is doubled only in batch files, so it is broken up by carets instead.
base::Result<std::string> quote_cmd(std::string_view argument);

// NUL is refused everywhere: no argument can hold one.
base::Result<std::string> quote(std::string_view argument, Dialect dialect);
base::Result<std::string> quote_command(const std::vector<std::string>& argv, Dialect dialect);

}  // namespace ttyward::shell
