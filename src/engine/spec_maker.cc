#include "engine/spec_maker.h"

#include <utility>

#include "base/ids.h"
#include "base/path.h"
#include "command/shell_choice.h"
#include "proxy/environment.h"
#include "pty/environment.h"
#include "sandbox/profile.h"
#include "shell/command_line.h"

namespace ttyward::engine {

using base::ErrorCode;
using base::fail;

namespace {

bool uses_proxy(const std::optional<sandbox::Plan>& plan) {
  return plan && plan->network == sandbox::Network::Proxy;
}

}  // namespace

base::Result<std::string> SpecMaker::checked_cwd(const std::string& cwd) const {
  if (cwd.empty()) {
    for (const std::string& entry : settings_.our_environment) {
      if (entry.starts_with("HOME=")) return entry.substr(5);
    }
    return std::string("/");
  }
  if (cwd.front() != '/') {
    return fail(ErrorCode::InvalidArgument, "cwd must be an absolute path, not '" + cwd + "'");
  }
  const auto found =
      place::at_once<base::Result<place::FileKind>>([&](auto then) { place_.file(cwd, then); });
  // A far place answers later, or by failing to start.
  if (found && !*found) return fail(found->error().code, "cannot run in " + found->error().message);
  if (found && **found != place::FileKind::Folder)
    return fail(ErrorCode::InvalidArgument, cwd + " is not a directory");
  return base::normalize_path(cwd);
}

base::Result<std::vector<std::string>> SpecMaker::environment(const std::vector<std::string>& requested,
                                                              const std::vector<std::string>& callers,
                                                              Owner owner, pty::Provider provider,
                                                              bool confined) const {
  pty::EnvironmentRequest request;
  request.ours = callers.empty() ? settings_.our_environment : callers;
  if (confined) request.ours = sandbox::without_secrets(std::move(request.ours));
  request.inherit = settings_.inherit;
  request.recipient = owner == Owner::Agent ? pty::Recipient::Agent : pty::Recipient::Person;
  request.requested = settings_.set_environment;
  request.requested.insert(request.requested.end(), requested.begin(), requested.end());
  request.also_inherit = settings_.also_inherit;
  request.never_inherit = settings_.never_inherit;
  request.path_first = settings_.path_first;
  request.terminal =
      provider == pty::Provider::Pty ? pty::TerminalProfile::Colour : pty::TerminalProfile::Dumb;
  request.version = settings_.version;
  pty::Environment made = pty::build_environment(request);
  if (!made.refused.empty()) {
    return fail(ErrorCode::InvalidArgument,
                "variable " + made.refused.front().name + " is refused: " + made.refused.front().reason);
  }
  registry_.add_paths(made.variables);
  return std::move(made.variables);
}

base::Result<TerminalSpec> SpecMaker::shell(OpenRequest request) const {
  TerminalSpec spec;
  auto cwd = checked_cwd(request.cwd);
  if (!cwd) return tl::unexpected(cwd.error());
  auto variables = environment(request.environment, request.callers, request.owner, request.provider,
                               request.sandbox.has_value());
  if (!variables) return tl::unexpected(variables.error());
  if (uses_proxy(request.sandbox)) proxy::add_proxy_environment(*variables, sandbox::kProxyPort);
  spec.plan = std::move(request.sandbox);
  spec.sandbox = std::move(request.sandbox_report);
  spec.request = std::move(request.request);
  spec.name = std::move(request.name);
  spec.owner = request.owner;
  spec.session = std::move(request.session);
  spec.task = std::move(request.task);
  spec.cwd = std::move(*cwd);
  spec.argv = request.shell.empty() ? settings_.shell : std::move(request.shell);
  spec.login = request.login;
  spec.provider = request.provider;
  spec.size = request.size.value_or(pty::WindowSize{settings_.cols, settings_.rows, 0, 0});
  spec.integrate = settings_.shell_integration && spec.provider != pty::Provider::Pipe;
  spec.environment = std::move(*variables);
  spec.environment.insert(spec.environment.end(), settings_.extra_shell_environment.begin(),
                          settings_.extra_shell_environment.end());
  return spec;
}

base::Result<TerminalSpec> SpecMaker::command(RunRequest request) const {
  TerminalSpec spec;
  auto cwd = checked_cwd(request.cwd);
  if (!cwd) return tl::unexpected(cwd.error());
  spec.owner = request.owner;
  spec.session = std::move(request.session);
  spec.task = std::move(request.task);
  spec.cwd = std::move(*cwd);
  spec.provider = request.provider;
  spec.size = request.size.value_or(pty::WindowSize{settings_.cols, settings_.rows, 0, 0});
  spec.command_id = request.id.empty() ? base::random_id('c') : std::move(request.id);
  spec.command = request.command;
  spec.description = std::move(request.description);
  spec.timeout = request.timeout;
  spec.idle_timeout = request.idle_timeout;
  spec.stdin_text = std::move(request.stdin_text);
  spec.keep_background = request.keep_background;
  spec.verdict_json = std::move(request.verdict_json);
  spec.argv = std::move(request.argv);
  if (spec.argv.empty()) {
    if (auto checked = shell::check_command_text(request.command); !checked) {
      return tl::unexpected(checked.error());
    }
    auto shell = command::choose_shell();
    if (!shell) return tl::unexpected(shell.error());
    spec.argv = pty::shell_argv(std::move(*shell), request.command);
  } else if (spec.command.empty()) {
    for (const std::string& word : spec.argv) spec.command += (spec.command.empty() ? "" : " ") + word;
  }
  auto variables = environment(request.environment, request.callers, request.owner, request.provider,
                               request.sandbox.has_value());
  if (!variables) return tl::unexpected(variables.error());
  spec.environment = std::move(*variables);
  if (uses_proxy(request.sandbox)) proxy::add_proxy_environment(spec.environment, sandbox::kProxyPort);
  spec.plan = std::move(request.sandbox);
  spec.sandbox = std::move(request.sandbox_report);
  return spec;
}

}  // namespace ttyward::engine
