// A shell that reads its commands from a pipe: no terminal, no prompt, no echo.
//
// Each command is one line that prints a start mark, runs it, and prints an end mark
// with its status, as a sentinel does (shell/sentinel.h). The shell reads its commands
// where the programs it runs would read, too: they get an empty stdin, so that none of
// them eats the next command. stdout and stderr are one pipe, or nobody could tell what
// came before a mark. Pure.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "shell/shell_kind.h"

namespace ttyward::shell {

// Whether it runs each line of a pipe as it comes. Not fish, which reads to the end first.
bool reads_from_pipes(ShellKind kind);
// `shell` started on pipes.
std::vector<std::string> piped_argv(std::vector<std::string> shell, bool login);
// Before the first command: whatever is interrupted or ended in it, the shell stays.
inline constexpr std::string_view kPipedStart = "trap : INT TERM\n";

// Longer texts must be in a file: shells without a printf of their own cannot pass them on.
inline constexpr size_t kMostPipedText = 16 * 1024;

// The line to write. `file`: holds the text, if it is longer than that.
base::Result<std::string> piped_line(std::string_view command, std::string_view nonce, ShellKind kind,
                                     const std::string& file);

}  // namespace ttyward::shell
