// Whether a shell waits for a command, by what the kernel says: it is blocked reading
// the terminal the way its line editor does, and has no script to read from. No mark is
// needed for that, so it also finds shells that print none.
#pragma once

#include <sys/types.h>

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "place/place.h"
#include "pty/run_state.h"
#include "shell/shell_kind.h"

namespace ttyward::engine {

struct ShellAtPrompt {
  pid_t pid = 0;
  shell::ShellKind kind = shell::ShellKind::Other;  // Other: a shell elsewhere, behind a program like ssh
  std::string program;
};

// `cursor_line` is what stands on the line of the cursor: of a shell elsewhere nothing else is known.
std::optional<ShellAtPrompt> shell_at_prompt(const place::Place& place, const pty::RunState& state,
                                             const std::string& cursor_line);

// Whether a program that passes on what is typed (ssh, a container's client) has a shell at its other end.
bool opens_shell_elsewhere(const std::vector<std::string>& argv);
// Whether a shell started like this reads its commands from the terminal: no script, no -c.
bool reads_commands(const std::vector<std::string>& argv);
bool ends_like_a_prompt(std::string_view line);

}  // namespace ttyward::engine
