// ttyward exec: a command in a terminal that stays open.
#include <memory>

#include "cli/daemon_verb.h"
#include "cli/exec_options.h"
#include "cli/far_run.h"
#include "cli/live_command.h"
#include "cli/verbs/verbs.h"
#include "relay/place_name.h"
#include "wire/types/terminal_calls.h"

namespace ttyward::cli {
namespace exec_verb {
namespace {

int exec(ExecOptions options, const Globals& globals) {
  std::string ignored;
  if (const auto project = project_container(options.place, ignored); !project)
    return complain("exec", project.error().message, kExitUsage);
  if (!options.place.empty()) {
    if (const auto name = relay::PlaceName::parse(options.place); !name)
      return complain("exec", name.error().message, kExitUsage);
  }
  auto args = exec_request(options, globals.after_dashes);
  if (!args) return complain("exec", args.error().message, kExitUsage);
  return with_daemon("exec", [&](client::Session& daemon) -> Outcome {
    if (!options.place.empty()) {
      wire::ShowRequest show;
      show.terminal = options.terminal;
      show.most = 1;
      const auto shown = daemon.call(show);
      if (!shown) return tl::unexpected(shown.error());
      const std::string& is = shown->terminal.place;
      if (is != options.place) {
        return complain("exec",
                        "terminal " + options.terminal + " is " +
                            (is.empty() ? "on this machine" : "in " + is) +
                            ", and a command runs where its terminal is: open one with `ttyward open --in " +
                            options.place + "`",
                        kExitUsage);
      }
    }
    return LiveCommand("exec", daemon, options.terminal, globals.json).run(std::move(*args));
  });
}

std::function<int()> declare(CLI::App& app, const Globals& globals) {
  auto options = std::make_shared<ExecOptions>();
  declare_exec_options(app, *options);
  declare_leaving_options(app, *options);
  app.add_option("--in", options->place,
                 "Run it only if the terminal is in this place: ssh:HOST, podman:NAME, docker:NAME, or "
                 "devcontainer; a command runs where its terminal is")
      ->type_name("PLACE");
  return [options, &globals] { return exec(*options, globals); };
}

}  // namespace
}  // namespace exec_verb

const Verb kExec = {"exec", "Run a command in an open terminal; its exit code passes through",
                    &exec_verb::declare};

}  // namespace ttyward::cli
