// Shells, what notifications need, and the person's own terminal.
#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <cerrno>
#include <climits>
#include <cstdlib>
#include <cstring>

#include "cli/doctor/check.h"
#include "cli/doctor/probe.h"
#include "cli/person_tty.h"
#include "pty/executable.h"
#include "shell/shell_kind.h"

namespace ttyward::cli::doctor {
namespace {

std::string variable(const Context& context, std::string_view name) {
  const auto value = pty::find_variable(context.environment, name);
  return value ? std::string(*value) : "";
}

std::string find_program(const Context& context, const char* name) {
  const pty::Executable found = pty::find_executable(AT_FDCWD, name, variable(context, "PATH"));
  return found.sys_errno == 0 ? found.path : "";
}

std::string first_line_of(const std::string& text) {
  const size_t begin = text.find_first_not_of(" \t\r\n");
  if (begin == std::string::npos) return {};
  std::string line = text.substr(begin, text.find_first_of("\r\n", begin) - begin);
  if (line.size() > 80) line.resize(80);
  return line;
}

// Those without --version say nothing we could show.
std::string version_of(const std::string& path, shell::ShellKind kind) {
  switch (kind) {
    case shell::ShellKind::Bash:
    case shell::ShellKind::Zsh:
    case shell::ShellKind::Fish:
    case shell::ShellKind::Pwsh:
      return first_line_of(run_probe({path, "--version"}).output);
    case shell::ShellKind::Ksh:
    case shell::ShellKind::Mksh:
      return first_line_of(run_probe({path, "-c", "echo $KSH_VERSION"}).output);
    default:
      return {};
  }
}

}  // namespace

std::vector<Finding> check_shells(const Context& context) {
  std::vector<Finding> findings;
  for (const char* name : {"bash", "zsh", "fish", "pwsh", "dash", "mksh", "ksh", "busybox", "sh"}) {
    const std::string path = find_program(context, name);
    if (path.empty()) continue;
    char real[PATH_MAX];
    const std::string target = ::realpath(path.c_str(), real) != nullptr ? real : path;
    std::vector<std::string> argv = {path};
    if (std::string_view(name) == "busybox") argv.emplace_back("ash");
    const shell::ShellIdentity identity = shell::identify_shell(argv, target);
    const std::string version = version_of(path, identity.kind);
    findings.push_back({Level::Ok,
                        fmt::format("{}{}{}{}: integration {}", path, target == path ? "" : " -> " + target,
                                    version.empty() ? "" : ", ", version,
                                    shell::quality_name(shell::attainable_quality(identity.kind))),
                        ""});
  }
  if (find_program(context, "bash").empty()) {
    findings.push_back(
        {findings.empty() ? Level::Fail : Level::Warn, "there is no bash in PATH",
         "install it: command lines are written for bash, and other shells read some of them differently"});
  }
  const std::string& chosen = context.config.settings.shell.path;
  if (!chosen.empty() && ::access(chosen.c_str(), X_OK) != 0) {
    findings.push_back(
        {Level::Fail, fmt::format("shell.path is {}, which cannot be run: {}", chosen, std::strerror(errno)),
         "correct it in " + context.config.file});
  }
  return findings;
}

std::vector<Finding> check_notify(const Context& context) {
  const config::NotifySettings& notify = context.config.settings.notify;
  std::vector<Finding> findings;
  const std::string curl = find_program(context, "curl");
  if (notify.webhook.empty()) {
    findings.push_back({Level::Ok, "no webhook is set", ""});
  } else if (curl.empty()) {
    findings.push_back({Level::Warn, "notify.webhook is set, but there is no curl in PATH to send it with",
                        "install curl, or empty notify.webhook"});
  } else {
    findings.push_back({Level::Ok, "questions go to the webhook by " + curl, ""});
  }
  const std::string sender = find_program(context, "notify-send");
  if (!notify.desktop) return findings;
  findings.push_back({Level::Ok,
                      sender.empty()
                          ? "desktop notifications are left to the terminal (no notify-send in PATH)"
                          : "desktop notifications by " + sender,
                      ""});
  return findings;
}

std::vector<Finding> check_person(const Context& context) {
  const auto size = PersonTty::size();
  if (::isatty(STDIN_FILENO) == 0 || ::isatty(STDOUT_FILENO) == 0 || !size)
    return {{Level::Ok, "doctor was not started from a terminal; nothing to check", ""}};
  std::vector<Finding> findings;
  const std::string term = variable(context, "TERM");
  findings.push_back({Level::Ok, fmt::format("{} x {}, TERM={}", size->columns, size->rows, term), ""});
  if (term.empty() || term == "dumb")
    findings.push_back({Level::Warn, "TERM names a terminal without any features",
                        "set TERM to the terminal's type, such as xterm-256color"});
  std::string locale = variable(context, "LC_ALL");
  if (locale.empty()) locale = variable(context, "LC_CTYPE");
  if (locale.empty()) locale = variable(context, "LANG");
  if (locale.find("UTF-8") == std::string::npos && locale.find("utf8") == std::string::npos) {
    findings.push_back({Level::Warn, fmt::format("the locale is '{}', not one with UTF-8", locale),
                        "set LANG=C.UTF-8; otherwise programs print question marks instead of letters"});
  }
  return findings;
}

}  // namespace ttyward::cli::doctor
