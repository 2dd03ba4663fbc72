#include "shell/shell_kind.h"

#include <algorithm>

namespace ttyward::shell {
namespace {

std::string lowered(std::string_view text) {
  std::string lower(text);
  std::transform(lower.begin(), lower.end(), lower.begin(),
                 [](unsigned char c) { return static_cast<char>(c >= 'A' && c <= 'Z' ? c + 32 : c); });
  return lower;
}

// A backslash separates only where the path is one of Windows: elsewhere it is part of a name.
bool is_windows_path(std::string_view path) {
  const bool drive = path.size() > 2 && path[1] == ':' && (path[2] == '\\' || path[2] == '/');
  return drive || path.starts_with("\\\\") || lowered(path).ends_with(".exe");
}

std::string_view base_name(std::string_view path) {
  const size_t slash = path.find_last_of(is_windows_path(path) ? "/\\" : "/");
  return slash == std::string_view::npos ? path : path.substr(slash + 1);
}

// C:\Program Files\Git\bin\bash.exe, …\Git\usr\bin\sh.exe, git-bash.exe.
bool is_git_bash(std::string_view path) {
  std::string lower = lowered(path);
  std::replace(lower.begin(), lower.end(), '\\', '/');
  if (!lower.ends_with(".exe")) return false;
  const std::string_view name = base_name(lower);
  return name == "git-bash.exe" ||
         ((name == "bash.exe" || name == "sh.exe") && lower.find("/git/") != std::string::npos);
}

// "bash-5.2", "zsh.exe": what follows the name proper is not part of it.
ShellKind kind_of(std::string_view name) {
  std::string lower = lowered(name);
  if (lower == "cmd.exe") return ShellKind::Cmd;
  if (lower.ends_with(".exe")) lower.resize(lower.size() - 4);
  const std::string word = lower.substr(0, lower.find_first_not_of("abcdefghijklmnopqrstuvwxyz"));
  if (word == "bash" || word == "rbash") return ShellKind::Bash;
  if (word == "zsh" || word == "rzsh") return ShellKind::Zsh;
  if (word == "fish") return ShellKind::Fish;
  if (word == "pwsh" || word == "powershell") return ShellKind::Pwsh;
  if (word == "dash") return ShellKind::Dash;
  if (word == "ash" || word == "busybox") return ShellKind::BusyboxAsh;
  if (word == "mksh" || word == "lksh") return ShellKind::Mksh;
  if (word == "ksh" || word == "rksh" || word == "pdksh" || word == "oksh") return ShellKind::Ksh;
  if (word == "sh") return ShellKind::PosixSh;
  return ShellKind::Other;
}

}  // namespace

ShellIdentity identify_shell(const std::vector<std::string>& argv, std::string_view real_path) {
  ShellIdentity identity;
  if (argv.empty()) return identity;
  std::string_view name = base_name(argv[0]);
  if (name.starts_with('-')) {
    identity.login = true;
    name.remove_prefix(1);
  }
  identity.kind = is_git_bash(argv[0]) ? ShellKind::GitBash : kind_of(name);
  if (identity.kind == ShellKind::PosixSh && !real_path.empty()) {
    const ShellKind real = kind_of(base_name(real_path));
    // A shell called sh behaves as one, whoever it is; only its way of reading lines is its own.
    if (real != ShellKind::Other && real != ShellKind::Bash && real != ShellKind::Zsh) identity.kind = real;
  }
  size_t first = 1;
  if (name == "busybox") {
    if (argv.size() < 2 || (argv[1] != "sh" && argv[1] != "ash")) {
      identity.kind = ShellKind::Other;
      identity.runs_command = true;
      return identity;
    }
    first = 2;
  }
  for (size_t i = first; i < argv.size(); i++) {
    const std::string& argument = argv[i];
    if (argument == "-l" || argument == "--login" || argument == "-Login") {
      identity.login = true;
    } else if (argument == "-il" || argument == "-li") {
      identity.login = true;
    } else if (argument != "-i" && argument != "--interactive") {
      identity.options.push_back(argument);
      // Options with arguments of their own and anything that names a script change what
      // the shell reads; guessing there would break somebody's set-up.
      const bool harmless = argument == "--noprofile" || argument == "-NoLogo" || argument == "-nologo" ||
                            argument == "--posix" || argument == "-f" || argument == "--no-config";
      if (!harmless) identity.runs_command = true;
    }
  }
  return identity;
}

const char* shell_kind_name(ShellKind kind) {
  switch (kind) {
    case ShellKind::Bash:
      return "bash";
    case ShellKind::Zsh:
      return "zsh";
    case ShellKind::Fish:
      return "fish";
    case ShellKind::Pwsh:
      return "pwsh";
    case ShellKind::Dash:
      return "dash";
    case ShellKind::BusyboxAsh:
      return "ash";
    case ShellKind::Ksh:
      return "ksh";
    case ShellKind::Mksh:
      return "mksh";
    case ShellKind::PosixSh:
      return "sh";
    case ShellKind::Cmd:
      return "cmd";
    case ShellKind::GitBash:
      return "git-bash";
    case ShellKind::Other:
      return "other";
  }
  return "other";
}

ShellKind shell_kind_named(std::string_view name) {
  for (int i = 0; i < static_cast<int>(ShellKind::Other); i++) {
    if (name == shell_kind_name(static_cast<ShellKind>(i))) return static_cast<ShellKind>(i);
  }
  return ShellKind::Other;
}

Dialect dialect_of(ShellKind kind) {
  if (kind == ShellKind::Fish) return Dialect::Fish;
  if (kind == ShellKind::Pwsh) return Dialect::PowerShell;
  if (kind == ShellKind::Cmd) return Dialect::Cmd;
  return Dialect::Posix;
}

Quality attainable_quality(ShellKind kind) {
  switch (kind) {
    case ShellKind::Bash:
    case ShellKind::Zsh:
    case ShellKind::Fish:
    case ShellKind::Pwsh:
      return Quality::Rich;
    case ShellKind::Cmd:
    case ShellKind::GitBash:
    case ShellKind::Other:
      return Quality::None;
    default:
      return Quality::Basic;
  }
}

bool has_line_editor(ShellKind kind) {
  return attainable_quality(kind) == Quality::Rich;
}

}  // namespace ttyward::shell
