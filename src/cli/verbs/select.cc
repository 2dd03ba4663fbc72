// ttyward select: mark text of a terminal for agents, as a person would point at it.
#include <fmt/format.h>

#include <algorithm>
#include <memory>

#include "cli/daemon_verb.h"
#include "cli/fields.h"
#include "cli/option_values.h"
#include "cli/shown_text.h"
#include "cli/verbs/verbs.h"

namespace ttyward::cli {
namespace {

struct Arguments {
  std::string terminal;
  std::string lines;
  bool clear = false;
};

int select(const Arguments& args, const Globals& globals) {
  boost::json::object call;
  if (args.clear == !args.terminal.empty())
    return complain("select", "give a terminal, or --clear", kExitUsage);
  if (args.clear) call["clear"] = true;
  if (!args.terminal.empty()) call["terminal"] = args.terminal;
  if (!args.lines.empty()) {
    auto range = parse_range("lines", args.lines);
    if (!range) return complain("select", range.error().message, kExitUsage);
    call["range"] = boost::json::array{range->first, range->second};
  }
  return with_daemon("select", [&](client::Session& daemon) -> Outcome {
    auto answer = daemon.call("select", std::move(call));
    if (!answer) return tl::unexpected(answer.error());
    if (globals.json) return print_json("select", *answer);
    const boost::json::object* selection = object_in(*answer, "selection");
    if (selection == nullptr) return 0;
    const std::string text = text_in(*selection, "text");
    fmt::print("marked {} lines of terminal {}; agents that may read it are told\n",
               std::count(text.begin(), text.end(), '\n'), one_line(text_in(*selection, "terminal")));
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

const Verb kSelect = {"select", "Mark text of a terminal for agents that may read it", &declare};

}  // namespace ttyward::cli
