// ttyward env: what of the environment commands get, and why.
#include <unistd.h>

#include <cstdio>
#include <memory>

#include "base/json_text.h"
#include "cli/daemon_verb.h"
#include "cli/shown_text.h"
#include "cli/verbs/verbs.h"
#include "config/load.h"
#include "pty/environment.h"

namespace ttyward::cli {
namespace env_verb {
namespace {

struct EnvArguments {
  std::string name;
  bool agent = false;
};

int explain(const EnvArguments& args, const Globals& globals) {
  const config::ShellSettings settings = load_here().settings.shell;
  pty::EnvironmentRequest request;
  for (char** entry = environ; *entry != nullptr; entry++) request.ours.emplace_back(*entry);
  request.requested = settings.environment_add;
  request.also_inherit = settings.environment_keep;
  request.never_inherit = settings.environment_drop;
  request.path_first = settings.add_to_path;
  request.inherit =
      settings.environment == config::ShellEnvironment::Clean ? pty::Inherit::Clean : pty::Inherit::AllowList;
  request.recipient = args.agent ? pty::Recipient::Agent : pty::Recipient::Person;
  request.version = TTYWARD_VERSION;
  std::string words = pty::explain_variable(request, args.name);
  const bool set = words.starts_with("set");
  if (settings.environment == config::ShellEnvironment::Login)
    words += ". shell.environment is login: a value from your login shell comes before this one";
  if (globals.json) {
    base::JsonObject out;
    out.text("name", args.name).boolean("set", set).text("why", words);
    std::printf("%s\n", out.str().c_str());
  } else {
    std::printf("%s is %s.\n", one_line(args.name).c_str(), words.c_str());
  }
  return set ? 0 : 1;
}

std::function<int()> declare(CLI::App& app, const Globals& globals) {
  auto args = std::make_shared<EnvArguments>();
  app.require_subcommand(1);
  CLI::App* sub = app.add_subcommand("explain", "Explain why commands get a variable or do not");
  sub->add_option("NAME", args->name, "The variable's name")->required();
  sub->add_flag("--agent", args->agent, "For an agent's command instead of your own");
  return [args, &globals] { return explain(*args, globals); };
}

}  // namespace
}  // namespace env_verb

const Verb kEnv = {"env", "Explain which variables commands get", &env_verb::declare};

}  // namespace ttyward::cli
