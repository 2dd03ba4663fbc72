// ttyward select: mark text of a terminal for agents, as a person would point at it.
#include <fmt/format.h>

#include <algorithm>
#include <memory>

#include "cli/daemon_verb.h"
#include "cli/option_values.h"
#include "cli/shown_text.h"
#include "cli/verbs/verbs.h"
#include "wire/types/watching_calls.h"

namespace ttyward::cli {
namespace select_verb {
namespace {

struct Arguments {
  std::string terminal;
  std::string lines;
  bool clear = false;
};

int select(const Arguments& args, const Globals& globals) {
  wire::SelectRequest request;
  if (args.clear == !args.terminal.empty())
    return complain("select", "give a terminal, or --clear", kExitUsage);
  request.clear = args.clear;
  request.terminal = args.terminal;
  if (!args.lines.empty()) {
    auto range = parse_range("lines", args.lines);
    if (!range) return complain("select", range.error().message, kExitUsage);
    request.range = {range->first, range->second};
  }
  return with_daemon("select", [&](client::Session& daemon) -> Outcome {
    auto answer = daemon.call(request);
    if (!answer) return tl::unexpected(answer.error());
    if (globals.json) return print_answer("select", *answer);
    if (!answer->selection) return 0;
    const std::string& text = answer->selection->text;
    fmt::print("marked {} lines of terminal {}; agents that may read it are told\n",
               std::count(text.begin(), text.end(), '\n'), one_line(answer->selection->terminal));
    return 0;
  });
}

std::function<int()> declare(CLI::App& app, const Globals& globals) {
  auto args = std::make_shared<Arguments>();
  app.add_option("TERM", args->terminal,
                 "Name or id of the terminal; @active is the one somebody attached to last");
  app.add_option("--lines", args->lines,
                 "These lines of its output, such as 10:20 (default: what its screen shows)")
      ->type_name("FROM:TO");
  app.add_flag("--clear", args->clear, "Nothing is marked any more");
  return [args, &globals] { return select(*args, globals); };
}

}  // namespace
}  // namespace select_verb

const Verb kSelect = {"select", "Mark text of a terminal for agents that may read it", &select_verb::declare};

}  // namespace ttyward::cli
