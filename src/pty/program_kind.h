// What is known of programs by their names, where the kernel shows no difference:
// a pager, an editor and a game all read keys in raw mode.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "pty/proc.h"

namespace ttyward::pty {

enum class ProgramKind : uint8_t {
  Other,
  Pager,
  Editor,
  LineEditor,  // shells and interpreters: raw mode, but what they want is a line
  Relay,       // ssh, sudo, tmux: always listens to its terminal, on behalf of another
};

ProgramKind program_kind(const std::vector<std::string>& names);

// The names a process goes by: comm, the file it runs, argv[0]; for a multi-call
// program also argv[1]. The first is the one to show.
std::vector<std::string> program_names(const ProcessStat& process);

}  // namespace ttyward::pty
