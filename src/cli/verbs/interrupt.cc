// ttyward interrupt: what Ctrl-C would do.
#include <memory>

#include "cli/daemon_verb.h"
#include "cli/target.h"
#include "cli/verbs/verbs.h"
#include "wire/types/command_calls.h"

namespace ttyward::cli {
namespace interrupt_verb {
namespace {

constexpr int kExitNothingRan = 1;

int interrupt(const std::string& word, const Globals& globals) {
  return with_daemon("interrupt", [&](client::Session& daemon) -> Outcome {
    auto target = find_target(daemon, word);
    if (!target) return tl::unexpected(target.error());
    auto answer = daemon.call(wire::InterruptRequest{target->terminal_id(), target->command_id()});
    if (!answer) return tl::unexpected(answer.error());
    if (globals.json) return print_answer("interrupt", *answer);
    return answer->interrupted ? 0 : complain("interrupt", "nothing is running there", kExitNothingRan);
  });
}

std::function<int()> declare(CLI::App& app, const Globals& globals) {
  auto target = std::make_shared<std::string>();
  app.add_option("TARGET", *target, "A terminal by name or id, or a command by id")->required();
  return [target, &globals] { return interrupt(*target, globals); };
}

}  // namespace
}  // namespace interrupt_verb

const Verb kInterrupt = {"interrupt", "Interrupt the running command of a terminal, as Ctrl-C does",
                         &interrupt_verb::declare};

}  // namespace ttyward::cli
