// ttyward resize: another size for a terminal.
#include <memory>

#include "cli/daemon_verb.h"
#include "cli/option_values.h"
#include "cli/verbs/verbs.h"
#include "wire/types/terminal_calls.h"

namespace ttyward::cli {
namespace resize_verb {
namespace {

struct Arguments {
  std::string terminal;
  std::string size;
};

int resize(const Arguments& args, const Globals& globals) {
  auto size = parse_size("SIZE", args.size);
  if (!size) return complain("resize", size.error().message, kExitUsage);
  return with_daemon("resize", [&](client::Session& daemon) -> Outcome {
    auto answer = daemon.call(wire::ResizeRequest{args.terminal, size->columns, size->rows});
    if (!answer) return tl::unexpected(answer.error());
    return globals.json ? print_answer("resize", *answer) : 0;
  });
}

std::function<int()> declare(CLI::App& app, const Globals& globals) {
  auto args = std::make_shared<Arguments>();
  app.add_option("TERM", args->terminal,
                 "The terminal's name or id; the first characters of the id are enough")
      ->required();
  app.add_option("SIZE", args->size, "Columns x rows, such as 120x40")->required();
  return [args, &globals] { return resize(*args, globals); };
}

}  // namespace
}  // namespace resize_verb

const Verb kResize = {"resize", "Change the size of a terminal", &resize_verb::declare};

}  // namespace ttyward::cli
