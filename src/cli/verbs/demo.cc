// ttyward demo: a tour of a minute, for real, in a place of its own.
#include <unistd.h>

#include <csignal>
#include <cstdio>
#include <memory>

#include "base/json_text.h"
#include "cli/demo/scenes.h"
#include "cli/demo/stage.h"
#include "cli/demo/teller.h"
#include "cli/verbs/verbs.h"

namespace ttyward::cli {
namespace demo_verb {
namespace {

struct Arguments {
  bool fast = false;
};

int print_claims(const std::vector<demo::Claim>& claims) {
  std::string list;
  for (const demo::Claim& claim : claims) {
    list += list.empty() ? "" : ",";
    list += base::JsonObject().text("claim", claim.text).boolean("held", claim.held).str();
  }
  std::printf("%s\n", base::JsonObject().raw("claims", "[" + list + "]").str().c_str());
  return 0;
}

int tour(const Arguments& args, const Globals& globals) {
  ::signal(SIGPIPE, SIG_IGN);  // whoever stops reading, what was started is ended
  SignalWatch signals({SIGINT, SIGTERM, SIGHUP});
  const bool watched = ::isatty(STDIN_FILENO) != 0 && ::isatty(STDOUT_FILENO) != 0;
  const demo::Pace pace = watched && !args.fast && !globals.json ? demo::Pace::Reading : demo::Pace::Fast;
  demo::Teller tell(pace, globals.json, signals);

  auto stage = demo::Stage::build();
  if (!stage) return complain("demo", stage.error().message, kExitFailure);
  if (!globals.json)
    std::printf("A tour of ttyward, in %s with a daemon of its own.\n", (*stage)->work().c_str());
  for (const demo::Scene scene : demo::scenes()) {
    scene(**stage, tell);
    if (scene != demo::scenes().front()) tell.pause();
    if (tell.interrupted()) break;
  }
  stage->reset();
  if (tell.interrupted()) return 128 + tell.signal();
  bool all = true;
  for (const demo::Claim& claim : tell.claims()) all = all && claim.held;
  if (globals.json) {
    print_claims(tell.claims());
  } else {
    std::printf(
        "\nThe tour has removed everything it started. Next: ttyward doctor, ttyward --help, man ttyward.\n");
  }
  return all ? 0 : complain("demo", "the tour did not go as expected; ttyward doctor may show why", 1);
}

std::function<int()> declare(CLI::App& app, const Globals& globals) {
  auto args = std::make_shared<Arguments>();
  app.add_flag("--fast", args->fast,
               "Do not pause for reading (the default when the output is not a terminal)");
  return [args, &globals] { return tour(*args, globals); };
}

}  // namespace
}  // namespace demo_verb

const Verb kDemo = {"demo", "A tour of ttyward, in about a minute", &demo_verb::declare};

}  // namespace ttyward::cli
