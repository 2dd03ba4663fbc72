#include "engine/shell_start.h"

#include <optional>
#include <utility>

#include "shell/mark_nonce.h"
#include "shell/piped.h"

namespace ttyward::engine {
namespace {

std::optional<std::string> variable(const std::vector<std::string>& environment, std::string_view name) {
  for (const std::string& entry : environment) {
    if (entry.size() > name.size() && entry.starts_with(name) && entry[name.size()] == '=') {
      return entry.substr(name.size() + 1);
    }
  }
  return std::nullopt;
}

void set_variable(std::vector<std::string>& environment, const std::string& name, const std::string& value) {
  std::erase_if(environment, [&](const std::string& entry) { return entry.starts_with(name + "="); });
  environment.push_back(name + "=" + value);
}

// Empty if nowhere, or if the place does not know yet: then the shell goes by its name.
std::string real_path_of(const place::Place& place, const std::string& program,
                         const std::vector<std::string>& environment) {
  const std::string search = variable(environment, "PATH").value_or("/usr/bin:/bin");
  return place::at_once<std::string>([&](auto then) { place.program(program, search, then); }).value_or("");
}

base::Result<ShellStart> prepare_pipes(const TerminalSpec& spec, ShellStart start,
                                       hold::LaunchRequest& request) {
  if (!shell::reads_from_pipes(start.identity.kind) || start.identity.runs_command) {
    return base::fail(
        base::ErrorCode::Unsupported,
        spec.argv.front() +
            " does not run commands from a pipe one by one: use bash, dash, zsh, ksh or busybox "
            "ash there, or the provider pty");
  }
  request.hold.spawn.argv = shell::piped_argv(spec.argv, spec.login);
  request.hold.spawn.stdin_kind = pty::StdinKind::Pipe;
  return start;
}

}  // namespace

base::Result<ShellStart> prepare_shell(const place::Place& place, const TerminalSpec& spec,
                                       const Settings& settings, const std::string& secret,
                                       const std::string& folder, hold::LaunchRequest& request) {
  std::vector<std::string>& environment = request.hold.spawn.environment;
  shell::ShellSpec wanted;
  wanted.argv = spec.argv;
  wanted.real_path = spec.argv.empty() ? "" : real_path_of(place, spec.argv.front(), environment);
  wanted.login = spec.login;
  wanted.private_folder = folder;
  wanted.nonce = shell::mark_nonce(secret, 0);
  wanted.user_zdotdir = variable(environment, "ZDOTDIR");
  wanted.user_env = variable(environment, "ENV");
  wanted.history = settings.history;
  wanted.report_environment = settings.report_environment;
  ShellStart start;
  start.identity = shell::identify_shell(wanted.argv, wanted.real_path);
  if (auto made = place.make_folder(folder); !made) return tl::unexpected(made.error());
  if (spec.provider == pty::Provider::Pipe) return prepare_pipes(spec, std::move(start), request);
  if (!spec.integrate) return start;
  shell::LaunchPlan plan = shell::prepare(wanted);
  for (const shell::PlannedFile& file : plan.files) {
    if (auto written = place.write_file(file.path, file.content, file.mode); !written)
      return tl::unexpected(written.error());
  }
  for (const auto& [name, value] : plan.environment) set_variable(environment, name, value);
  request.hold.spawn.argv = std::move(plan.argv);
  return ShellStart{plan.identity, plan.expected, std::move(plan.remove_when_ready)};
}

}  // namespace ttyward::engine
