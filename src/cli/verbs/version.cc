// ttyward version: what --version says, as a verb people look for.
#include "cli/daemon_verb.h"
#include "cli/verbs/verbs.h"
#include "cli/version_text.h"

namespace ttyward::cli {
namespace version_verb {
namespace {

std::function<int()> declare(CLI::App&, const Globals& globals) {
  return [&globals] {
    if (globals.json) return print_text("version", version_json() + "\n");
    return print_text("version", version_text() + "\n");
  };
}

}  // namespace
}  // namespace version_verb

const Verb kVersion = {"version", "Print the version and the versions of the protocols",
                       &version_verb::declare};

}  // namespace ttyward::cli
