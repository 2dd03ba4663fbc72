#include "shell/piped.h"

#include "shell/command_line.h"
#include "shell/quoting.h"

namespace ttyward::shell {

bool reads_from_pipes(ShellKind kind) {
  switch (kind) {
    case ShellKind::Bash:
    case ShellKind::Zsh:
    case ShellKind::Dash:
    case ShellKind::BusyboxAsh:
    case ShellKind::Ksh:
    case ShellKind::Mksh:
    case ShellKind::PosixSh:
      return true;
    case ShellKind::Fish:
    case ShellKind::Pwsh:
    case ShellKind::Cmd:
    case ShellKind::GitBash:
    case ShellKind::Other:
      break;
  }
  return false;
}

std::vector<std::string> piped_argv(std::vector<std::string> shell, bool login) {
  std::vector<std::string> argv{"/bin/sh", "-c", "exec \"$@\" 2>&1", "sh"};
  argv.insert(argv.end(), shell.begin(), shell.end());
  if (login) argv.emplace_back("-l");
  return argv;
}

base::Result<std::string> piped_line(std::string_view command, std::string_view nonce, ShellKind kind,
                                     const std::string& file) {
  if (auto checked = check_command_text(command); !checked) return tl::unexpected(checked.error());
  // `command` keeps a shell alive whose eval meets a syntax error; zsh means something else by it, and
  // needs it not.
  const std::string eval = kind == ShellKind::Zsh ? "eval " : "command eval ";
  const std::string text = file.empty() ? quote_posix(command) : "\"$(cat " + quote_posix(file) + ")\"";
  const std::string word(nonce);
  // What the shell traces (set -x) of our own words goes nowhere.
  return "{ printf '\\033]633;C;%s\\007' " + word + "; } 2>/dev/null; " + eval + text +
         " </dev/null; { printf '\\033]633;D;%s;;1;%s\\007' \"$?\" " + word + "; } 2>/dev/null\n";
}

}  // namespace ttyward::shell
