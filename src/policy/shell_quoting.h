// Quoting an argument for the shell that will read it.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "policy/verdict.h"

namespace ttyward::policy {

enum class ShellKind : uint8_t { Bash, PowerShell, Cmd };

// How a shell of this kind is started with a command as text: {"bash", "-c"}.
std::vector<std::string> shell_arguments(ShellKind shell);

// `argument` as one word that the shell gives to a program unchanged.
std::string quote_argument(std::string_view argument, ShellKind shell);

// A conservative reading of a PowerShell or cmd line: the first word of every segment. What these shells
// do with a line cannot be judged here, so the verdict is always at least a question.
struct SegmentedLine {
  std::vector<std::string> commands;
  bool understood = true;  // quotes closed, no expression that could run something else
};
SegmentedLine split_line(std::string_view line, ShellKind shell);
Verdict check_foreign_line(std::string_view line, ShellKind shell);

}  // namespace ttyward::policy
