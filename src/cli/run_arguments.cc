#include "cli/run_arguments.h"

#include <fmt/format.h>
#include <unistd.h>

#include <csignal>
#include <cstdlib>

#include "app/default_view.h"
#include "app/sandbox_plan.h"
#include "base/folders.h"
#include "base/ids.h"
#include "cli/daemon_call.h"
#include "cli/far_run.h"
#include "cli/option_values.h"
#include "config/load.h"
#include "pty/environment.h"
#include "sandbox/profile.h"

namespace ttyward::cli {
namespace {

using base::ErrorCode;
using base::fail;

// An agent could set our environment, so for it only the option and the configuration count.
base::Result<sandbox::Profile> sandbox_profile(const RunArguments& args,
                                               const config::SandboxSettings& settings) {
  const char* const variable = is_agent() ? nullptr : std::getenv("TTYWARD_SANDBOX");
  std::string asked = args.sandbox.empty() && variable != nullptr ? variable : args.sandbox;
  // The engine of containers, in which the image decides the rest.
  if (asked == "podman" || asked == "docker" || asked == "container") {
    const char* const image = std::getenv("TTYWARD_SANDBOX_IMAGE");
    if (image == nullptr || image[0] == '\0') {
      return fail(ErrorCode::InvalidArgument,
                  fmt::format("the sandbox {} needs an image: set TTYWARD_SANDBOX_IMAGE, or use "
                              "--sandbox container:IMAGE",
                              asked));
    }
    asked = std::string("container:") + image;
  }
  return app::choose_profile(asked, is_agent() ? app::Asker::Agent : app::Asker::Person, settings);
}

// A sandbox is made of what is on this machine.
base::Result<sandbox::Profile> no_sandbox_there(const RunArguments& args) {
  if (args.sandbox.empty() || args.sandbox == "none") return sandbox::Profile{};
  return fail(ErrorCode::Unsupported,
              "a sandbox works on this machine only: leave out --sandbox, or --in " + args.place);
}

base::Result<std::vector<std::string>> child_environment(const RunArguments& args,
                                                         const config::ShellSettings& settings,
                                                         std::vector<std::string> ours, bool pipe,
                                                         bool person_watches, bool confined) {
  pty::EnvironmentRequest request;
  request.ours = std::move(ours);
  if (confined) request.ours = sandbox::without_secrets(std::move(request.ours));
  for (const std::string& variable : args.environment) {
    if (auto parsed = parse_variable(variable); !parsed) return tl::unexpected(parsed.error());
  }
  request.requested = settings.environment_add;
  request.requested.insert(request.requested.end(), args.environment.begin(), args.environment.end());
  request.also_inherit = settings.environment_keep;
  request.never_inherit = settings.environment_drop;
  request.path_first = settings.add_to_path;
  request.inherit = args.inherit_environment ? pty::Inherit::Everything : pty::Inherit::AllowList;
  request.recipient = is_agent() ? pty::Recipient::Agent : pty::Recipient::Person;
  request.terminal = pipe ? pty::TerminalProfile::Dumb : pty::TerminalProfile::Colour;
  request.pagers = person_watches ? pty::PagerProfile::AsIs : pty::PagerProfile::Quiet;
  request.version = TTYWARD_VERSION;
  pty::Environment made = pty::build_environment(request);
  if (!made.refused.empty()) {
    return fail(ErrorCode::PermissionDenied,
                fmt::format("--env {}: {}", made.refused.front().name, made.refused.front().reason));
  }
  return std::move(made.variables);
}

}  // namespace

// An agent could set our environment, so for it only files count.
config::Settings settings_in(const std::string& folder) {
  std::vector<std::string> environment;
  for (char** entry = environ; !is_agent() && *entry != nullptr; ++entry) environment.emplace_back(*entry);
  return config::load(base::user_folders(), folder, environment).settings;
}

void declare_run_options(CLI::App& app, RunArguments& args) {
  declare_place(app, args.place);
  app.add_option("--cwd", args.cwd, "Folder to run in (default: the current one)")->type_name("FOLDER");
  app.add_option("--timeout", args.timeout,
                 "Time limit in seconds, 0 for no limit (default 60; no limit at a terminal)");
  app.add_option("--idle-timeout", args.idle_timeout,
                 "Seconds without output after which it is stopped, 0 for no limit (default 300; no limit at "
                 "a terminal)");
  app.add_option(
      "--input-patience", args.input_patience,
      "Seconds to wait when it asks for input and nobody can answer, 0 to wait for ever (default 5)");
  app.add_flag("--pipe", args.pipe, "Run it on pipes instead of a terminal");
  app.add_option("--env", args.environment, "NAME=value for its environment; may be repeated")
      ->allow_extra_args(false);  // or it would take the command for one more
  app.add_flag("--inherit-env", args.inherit_environment,
               "Give it the whole environment, not only the harmless part");
  app.add_option("--size", args.size, "Size of its terminal, such as 120x40");
  app.add_option("--view", args.view, "How much output the result holds")
      ->type_name(terminal::view_preset_names("|"));
  app.add_option("--shell", args.shell, "Shell for the command line; bash, or sh where there is none")
      ->type_name("FILE");
  app.add_flag("--keep-background", args.keep_background,
               "Keep the processes it started in the background running, with its terminal");
  app.add_option("--overflow", args.overflow, "What to do when the output reaches the journal's quota")
      ->type_name("drop-middle|pause|kill");
  app.add_option(
         "--sandbox", args.sandbox,
         "Confine it: read-only, workspace, workspace+net or none (default: TTYWARD_SANDBOX, else none; "
         "docs/sandbox.md)")
      ->type_name("PROFILE");
  app.add_option("--kill-grace", args.kill_grace,
                 "Seconds between the signals INT, TERM and KILL when it is stopped");
}

base::Result<command::RunOptions> make_run_options(const RunArguments& args, bool person_watches) {
  command::RunOptions options;
  options.id = base::random_id('c');

  // A folder of another place is looked for there.
  auto cwd = absolute_folder(args.place.empty() ? args.cwd : "");
  if (!cwd) return tl::unexpected(cwd.error());
  options.spawn.cwd = args.place.empty() ? *cwd : args.cwd;
  const config::Settings settings = settings_in(*cwd);
  options.spawn.provider = args.pipe ? base::Provider::Pipe : settings.terminal.provider;
  options.spawn.size.columns = static_cast<uint16_t>(settings.terminal.cols);
  options.spawn.size.rows = static_cast<uint16_t>(settings.terminal.rows);
  if (const auto size = PersonTty::size(); size && person_watches) options.spawn.size = *size;
  if (!args.size.empty()) {
    auto size = parse_size("--size", args.size);
    if (!size) return tl::unexpected(size.error());
    options.spawn.size = *size;
  }

  if (args.timeout) {
    auto time = parse_seconds("timeout", *args.timeout);
    if (!time) return tl::unexpected(time.error());
    options.timeout = *time;
  } else {
    options.timeout = person_watches ? std::chrono::milliseconds(0) : settings.times.timeout;
  }
  if (args.idle_timeout) {
    auto time = parse_seconds("idle-timeout", *args.idle_timeout);
    if (!time) return tl::unexpected(time.error());
    options.idle_timeout = *time;
  } else {
    options.idle_timeout = person_watches ? std::chrono::milliseconds(0) : settings.times.idle_timeout;
  }
  options.input_patience = settings.times.input_patience;
  if (args.input_patience) {
    auto patience = parse_seconds("input-patience", *args.input_patience);
    if (!patience) return tl::unexpected(patience.error());
    options.input_patience = *patience;
  }
  options.drain_time = settings.times.drain;
  options.kill_rungs = {{SIGINT, settings.times.interrupt_grace},
                        {SIGTERM, settings.times.terminate_grace},
                        {SIGKILL, settings.times.kill_grace}};
  if (args.kill_grace) {
    auto grace = parse_seconds("kill-grace", *args.kill_grace);
    if (!grace) return tl::unexpected(grace.error());
    options.kill_rungs = {{SIGINT, *grace}, {SIGTERM, *grace}, {SIGKILL, std::chrono::seconds(2)}};
  }

  const std::string view_name(args.view.empty() ? app::view_name(settings.output.view) : args.view);
  const auto view = app::view_named(view_name, settings.output);
  if (!view) {
    return fail(ErrorCode::InvalidArgument,
                fmt::format("--view {}: use {}", args.view, terminal::view_preset_names()));
  }
  options.view = *view;
  options.journal_quota = static_cast<uint64_t>(settings.limits.journal);
  if (args.overflow.empty()) {
    options.overflow = settings.limits.overflow == config::Overflow::Pause  ? journal::Overflow::Pause
                       : settings.limits.overflow == config::Overflow::Kill ? journal::Overflow::Kill
                                                                            : journal::Overflow::DropMiddle;
  } else if (args.overflow == "drop-middle") {
    options.overflow = journal::Overflow::DropMiddle;
  } else if (args.overflow == "pause") {
    options.overflow = journal::Overflow::Pause;
  } else if (args.overflow == "kill") {
    options.overflow = journal::Overflow::Kill;
  } else {
    return fail(ErrorCode::InvalidArgument,
                fmt::format("--overflow {}: use drop-middle, pause or kill", args.overflow));
  }

  const auto profile = args.place.empty() ? sandbox_profile(args, settings.sandbox) : no_sandbox_there(args);
  if (!profile) return tl::unexpected(profile.error());
  std::vector<std::string> ours;
  for (char** variable = environ; *variable != nullptr; variable++) ours.emplace_back(*variable);
  auto environment =
      child_environment(args, settings.shell, ours, options.spawn.provider == base::Provider::Pipe,
                        person_watches, profile->confines());
  if (!environment) return tl::unexpected(environment.error());
  options.spawn.environment = std::move(*environment);
  // Variables name folders that are shown. Those that an agent chose do not count.
  auto plan =
      app::make_sandbox(*profile, *cwd, is_agent() ? ours : options.spawn.environment, settings.sandbox);
  if (!plan) return tl::unexpected(plan.error());
  options.spawn.sandbox = std::move(*plan);
  if (options.spawn.sandbox) options.sandbox = app::report_of(*options.spawn.sandbox);
  options.survivors = args.keep_background ? hold::Survivors::Keep : hold::Survivors::Kill;
  if (args.keep_background) options.spawn.session = pty::Session::Ours;
  return options;
}

base::Result<std::vector<std::string>> environment_there(const RunArguments& args,
                                                         std::vector<std::string> theirs,
                                                         bool person_watches) {
  config::ShellSettings settings = settings_in("").shell;
  settings.add_to_path.clear();  // folders of this machine
  return child_environment(args, settings, std::move(theirs), args.pipe, person_watches, false);
}

base::Result<command::RunOptions> make_run_options(RunArguments args, bool person_watches,
                                                   const policy::Verdict& verdict) {
  if (verdict.sandbox.empty()) return make_run_options(args, person_watches);
  const auto asked = sandbox::profile_named(args.sandbox).value_or(sandbox::Profile{});
  const auto relied_on = sandbox::profile_named(verdict.sandbox).value_or(sandbox::Profile{});
  args.sandbox = sandbox::profile_name(sandbox::stricter(asked, relied_on));
  auto options = make_run_options(args, person_watches);
  if (!options || !options->spawn.sandbox) return options;
  app::grant_effects(*options->spawn.sandbox, verdict);
  options->sandbox = app::report_of(*options->spawn.sandbox);
  options->sandbox->denied = app::denied_by(*options->spawn.sandbox, verdict);
  return options;
}

}  // namespace ttyward::cli
