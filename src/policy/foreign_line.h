// Lines for shells whose grammar is not parsed here: PowerShell and cmd. What they do with a line cannot be
// judged, so the verdict is always at least a question. Pure.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "policy/verdict.h"

namespace ttyward::policy {

enum class ShellKind : uint8_t { Bash, PowerShell, Cmd };

// A conservative reading: the first word of every segment.
struct SegmentedLine {
  std::vector<std::string> commands;
  bool understood = true;  // quotes closed, no expression that could run something else
};
SegmentedLine split_line(std::string_view line, ShellKind shell);
Verdict check_foreign_line(std::string_view line, ShellKind shell);

}  // namespace ttyward::policy
