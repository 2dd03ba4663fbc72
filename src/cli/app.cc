#include "cli/app.h"

#include <cstdio>
#include <exception>
#include <map>
#include <memory>
#include <string>
#include <utility>

#include <CLI/CLI.hpp>

#include "cli/verb.h"

namespace ttyward::cli {
namespace {

// CLI11 spreads some of its messages over lines; people asked for one.
std::string one_line(std::string text) {
  for (char& c : text) {
    if (c == '\n') c = ' ';
  }
  while (!text.empty() && text.back() == ' ') text.pop_back();
  return text;
}

}  // namespace

int complain(const char* verb, const std::string& message, int exit_code) {
  const std::string prefix = verb != nullptr && *verb != '\0' ? std::string("ttyward ") + verb : "ttyward";
  std::fprintf(stderr, "%s: %s\n", prefix.c_str(), message.c_str());
  return exit_code;
}

int run(int argc, char** argv) {
  CLI::App app{"ttyward: the terminal for AI agents", "ttyward"};
  Globals globals;
  app.set_version_flag("--version", "ttyward " TTYWARD_VERSION);
  app.add_flag("--json", globals.json, "Print results as JSON");
  app.require_subcommand(0, 1);
  app.fallthrough();

  std::map<const CLI::App*, std::pair<const Verb*, std::function<int()>>> actions;
  for (const Verb& verb : verb_table()) {
    CLI::App* sub = app.add_subcommand(verb.name, verb.summary);
    actions[sub] = {&verb, verb.declare(*sub, globals)};
  }

  const Verb* chosen = nullptr;
  try {
    app.parse(argc, argv);
    const auto picked = app.get_subcommands();
    if (picked.empty()) {
      std::fputs(app.help().c_str(), stdout);
      return 0;
    }
    const auto& [verb, action] = actions.at(picked.front());
    chosen = verb;
    return action();
  } catch (const CLI::Success& success) {  // --help, --version
    return app.exit(success);
  } catch (const CLI::ParseError& error) {
    const auto picked = app.get_subcommands();
    const std::string verb = picked.empty() ? "" : picked.front()->get_name();
    const std::string help = verb.empty() ? "ttyward --help" : "ttyward " + verb + " --help";
    return complain(verb.c_str(), one_line(error.what()) + " (see " + help + ")", kExitUsage);
  } catch (const std::exception& error) {
    return complain(chosen != nullptr ? chosen->name : "", error.what(), kExitFailure);
  }
}

}  // namespace ttyward::cli
