// Which shell a program is, told from how it is started.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "shell/quality.h"

namespace ttyward::shell {

// Cmd and GitBash are shells of Windows. They are recognised, and lines can be written for them; ttyward
// starts none of them.
enum class ShellKind : uint8_t {
  Bash,
  Zsh,
  Fish,
  Pwsh,
  Dash,
  BusyboxAsh,
  Ksh,
  Mksh,
  PosixSh,
  Cmd,
  GitBash,
  Other
};

// What a command is written in, as far as quoting and sentinels are concerned.
enum class Dialect : uint8_t { Posix, Fish, PowerShell, Cmd };

struct ShellIdentity {
  ShellKind kind = ShellKind::Other;
  bool login = false;         // by a dash before its name, or by -l / --login
  bool runs_command = false;  // -c, a script, or options we do not know: leave it alone
  std::vector<std::string>
      options;  // the arguments that stay: all but those that say "login" or "interactive"

  bool operator==(const ShellIdentity&) const = default;
};

// From argv; argv[0] may be a path, also one of Windows: cmd is known by its .exe, Git Bash by a bash.exe in
// Git's folder. `sh` is PosixSh unless `real_path` (where the
// caller followed its link) says which one it is.
ShellIdentity identify_shell(const std::vector<std::string>& argv, std::string_view real_path = {});

const char* shell_kind_name(ShellKind kind);
// Other for a name that is none.
ShellKind shell_kind_named(std::string_view name);
Dialect dialect_of(ShellKind kind);
// The best that integration can reach with this shell.
Quality attainable_quality(ShellKind kind);
// Whether it edits lines itself once it prompts, so that they may be of any length.
bool has_line_editor(ShellKind kind);

}  // namespace ttyward::shell
