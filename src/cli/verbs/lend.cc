// ttyward lend: let agents at a terminal of a person's, or of another agent's, and take it back.
#include <memory>

#include "cli/daemon_verb.h"
#include "cli/verbs/verbs.h"
#include "wire/types/terminal_calls.h"

namespace ttyward::cli {
namespace lend_verb {
namespace {

struct Arguments {
  std::string terminal;
  std::string to;
  bool read_only = false;
  bool back = false;
};

int lend(const Arguments& args, const Globals& globals) {
  return with_daemon("lend", [&](client::Session& daemon) -> Outcome {
    auto answer = daemon.call(wire::LendRequest{args.terminal, args.read_only, args.to, args.back});
    if (!answer) return tl::unexpected(answer.error());
    return globals.json ? print_answer("lend", *answer) : 0;
  });
}

std::function<int()> declare(CLI::App& app, const Globals& globals) {
  auto args = std::make_shared<Arguments>();
  app.add_option("TERM", args->terminal,
                 "The terminal's name or id; the first characters of the id are enough")
      ->required();
  CLI::Option* read =
      app.add_flag("--read", args->read_only, "Agents may look, but not type or run anything");
  CLI::Option* to = app.add_option("--to", args->to, "Only this session of an agent (default: every agent)");
  app.add_flag("--back", args->back, "Take it back")->excludes(read)->excludes(to);
  return [args, &globals] { return lend(*args, globals); };
}

}  // namespace
}  // namespace lend_verb

const Verb kLend = {"lend", "Let agents use your terminal, or take it back", &lend_verb::declare};

}  // namespace ttyward::cli
