// ttyward exec: a command in a terminal that stays open.
#include <memory>

#include "cli/daemon_verb.h"
#include "cli/exec_options.h"
#include "cli/live_command.h"
#include "cli/verbs/verbs.h"

namespace ttyward::cli {
namespace exec_verb {
namespace {

int exec(const ExecOptions& options, const Globals& globals) {
  auto args = exec_request(options, globals.after_dashes);
  if (!args) return complain("exec", args.error().message, kExitUsage);
  return with_daemon("exec", [&](client::Session& daemon) {
    return LiveCommand("exec", daemon, options.terminal, globals.json).run(std::move(*args));
  });
}

std::function<int()> declare(CLI::App& app, const Globals& globals) {
  auto options = std::make_shared<ExecOptions>();
  declare_exec_options(app, *options);
  declare_leaving_options(app, *options);
  return [options, &globals] { return exec(*options, globals); };
}

}  // namespace
}  // namespace exec_verb

const Verb kExec = {"exec", "Run a command in an open terminal; its exit code passes through",
                    &exec_verb::declare};

}  // namespace ttyward::cli
