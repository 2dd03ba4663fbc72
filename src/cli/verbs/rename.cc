// ttyward rename and assign: what a terminal is called, and which task it belongs to.
#include <memory>

#include "cli/daemon_verb.h"
#include "cli/verbs/verbs.h"
#include "wire/types/terminal_calls.h"

namespace ttyward::cli {
namespace rename_verb {
namespace {

struct Arguments {
  std::string terminal;
  std::string value;
};

template <client::Request R>
int change(const char* verb, const Arguments& args, const Globals& globals) {
  return with_daemon(verb, [&](client::Session& daemon) -> Outcome {
    auto answer = daemon.call(R{args.terminal, args.value});
    if (!answer) return tl::unexpected(answer.error());
    return globals.json ? print_answer(verb, *answer) : 0;
  });
}

std::shared_ptr<Arguments> declare_terminal(CLI::App& app) {
  auto args = std::make_shared<Arguments>();
  app.add_option("TERM", args->terminal,
                 "The terminal's name or id; the first characters of the id are enough")
      ->required();
  return args;
}

std::function<int()> declare_rename(CLI::App& app, const Globals& globals) {
  auto args = declare_terminal(app);
  app.add_option("NAME", args->value, "The new name")->required();
  return [args, &globals] { return change<wire::RenameRequest>("rename", *args, globals); };
}

std::function<int()> declare_assign(CLI::App& app, const Globals& globals) {
  auto args = declare_terminal(app);
  app.add_option("TASK", args->value, "Its task (default: none)");
  return [args, &globals] { return change<wire::AssignRequest>("assign", *args, globals); };
}

}  // namespace
}  // namespace rename_verb

const Verb kRename = {"rename", "Rename a terminal", &rename_verb::declare_rename};
const Verb kAssign = {"assign", "Set the task a terminal belongs to", &rename_verb::declare_assign};

}  // namespace ttyward::cli
