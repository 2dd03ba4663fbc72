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

base::Result<const relay::WelcomeMessage*> SpecMaker::facts_of(const std::string& place,
                                                               bool confined) const {
  if (place.empty()) return nullptr;
  if (confined) {
    return fail(ErrorCode::Unsupported, "a sandbox works on this machine only, and this is for " + place +
                                            ": ask for the sandbox none");
  }
  const relay::WelcomeMessage* const there = places_.facts(place);
  if (there == nullptr) return fail(ErrorCode::Unavailable, place + " has not been reached");
  return there;
}

base::Result<std::string> SpecMaker::cwd_there(const std::string& cwd, const relay::WelcomeMessage& there) {
  if (cwd.empty()) return there.home;
  if (cwd.front() != '/')
    return fail(ErrorCode::InvalidArgument, "cwd must be an absolute path, not '" + cwd + "'");
  return base::normalize_path(cwd);
}

// Folders and settings of this machine do not belong there.
base::Result<std::vector<std::string>> SpecMaker::environment_there(const std::vector<std::string>& requested,
                                                                    const relay::WelcomeMessage& there,
                                                                    Owner owner,
                                                                    pty::Provider provider) const {
  pty::EnvironmentRequest request;
  request.ours = there.environment;
  request.inherit = settings_.inherit;
  request.recipient = owner == Owner::Agent ? pty::Recipient::Agent : pty::Recipient::Person;
  request.requested = requested;
  request.also_inherit = settings_.also_inherit;
  request.never_inherit = settings_.never_inherit;
  request.terminal =
      provider == pty::Provider::Pty ? pty::TerminalProfile::Colour : pty::TerminalProfile::Dumb;
  request.version = settings_.version;
  pty::Environment made = pty::build_environment(request);
  if (!made.refused.empty()) {
    return fail(ErrorCode::InvalidArgument,
                "variable " + made.refused.front().name + " is refused: " + made.refused.front().reason);
  }
  return std::move(made.variables);
}

base::Result<TerminalSpec> SpecMaker::shell(OpenRequest request) const {
  TerminalSpec spec;
  const auto there = facts_of(request.place, request.sandbox.has_value());
  if (!there) return tl::unexpected(there.error());
  auto cwd = *there != nullptr ? cwd_there(request.cwd, **there) : checked_cwd(request.cwd);
  if (!cwd) return tl::unexpected(cwd.error());
  auto variables = *there != nullptr
                       ? environment_there(request.environment, **there, request.owner, request.provider)
                       : environment(request.environment, request.callers, request.owner, request.provider,
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
  spec.place = std::move(request.place);
  spec.argv = !request.shell.empty() ? std::move(request.shell)
              : *there != nullptr    ? std::vector<std::string>{(*there)->shell}
                                     : settings_.shell;
  spec.login = request.login;
  spec.provider = request.provider;
  spec.size = request.size.value_or(pty::WindowSize{settings_.cols, settings_.rows, 0, 0});
  spec.integrate = settings_.shell_integration && spec.provider != pty::Provider::Pipe;
  spec.environment = std::move(*variables);
  if (*there == nullptr) {
    spec.environment.insert(spec.environment.end(), settings_.extra_shell_environment.begin(),
                            settings_.extra_shell_environment.end());
  }
  return spec;
}

base::Result<TerminalSpec> SpecMaker::command(RunRequest request) const {
  TerminalSpec spec;
  const auto there = facts_of(request.place, request.sandbox.has_value());
  if (!there) return tl::unexpected(there.error());
  auto cwd = *there != nullptr ? cwd_there(request.cwd, **there) : checked_cwd(request.cwd);
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
    auto shell = *there == nullptr        ? command::choose_shell()
                 : (*there)->bash.empty() ? base::Result<std::string>("sh")
                                          : (*there)->bash;
    if (!shell) return tl::unexpected(shell.error());
    spec.argv = pty::shell_argv(std::move(*shell), request.command);
  } else if (spec.command.empty()) {
    for (const std::string& word : spec.argv) spec.command += (spec.command.empty() ? "" : " ") + word;
  }
  auto variables = *there != nullptr
                       ? environment_there(request.environment, **there, request.owner, request.provider)
                       : environment(request.environment, request.callers, request.owner, request.provider,
                                     request.sandbox.has_value());
  if (!variables) return tl::unexpected(variables.error());
  spec.place = std::move(request.place);
  spec.environment = std::move(*variables);
  if (uses_proxy(request.sandbox)) proxy::add_proxy_environment(spec.environment, sandbox::kProxyPort);
  spec.plan = std::move(request.sandbox);
  spec.sandbox = std::move(request.sandbox_report);
  return spec;
}

}  // namespace ttyward::engine
