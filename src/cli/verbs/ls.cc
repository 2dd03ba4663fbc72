// ttyward ls: the terminals there are.
#include <unistd.h>

#include <memory>

#include <boost/json/object.hpp>

#include "cli/choice.h"
#include "cli/daemon_verb.h"
#include "cli/fields.h"
#include "cli/person_tty.h"
#include "cli/terminal_table.h"
#include "cli/verbs/verbs.h"

namespace ttyward::cli {
namespace {

struct Arguments {
  std::string task;
  std::string owner;
  bool all = false;
  bool background = false;
};

int list(const Arguments& args, const Globals& globals) {
  return with_daemon("ls", [&](client::Session& daemon) -> Outcome {
    boost::json::object call;
    set_text(call, "task", args.task);
    set_text(call, "owner", args.owner);
    if (args.all) call["all"] = true;
    if (args.background) call["background"] = true;
    auto answer = daemon.call("list", std::move(call));
    if (!answer) return tl::unexpected(answer.error());
    if (globals.json) return print_json("ls", *answer);
    const auto terminals = objects_in(*answer, "terminals");
    if (terminals.empty()) return complain("ls", "there are none; ttyward open makes one", 0);
    const auto size = PersonTty::size();
    const bool person = ::isatty(STDOUT_FILENO) != 0 && size;
    std::string out;
    for (const std::string& line : terminal_lines(terminals, person ? Ids::Short : Ids::Whole,
                                                  person ? size->columns : 0, now_in_ms())) {
      out += line + "\n";
    }
    return print_text("ls", out);
  });
}

std::function<int()> declare(CLI::App& app, const Globals& globals) {
  auto args = std::make_shared<Arguments>();
  app.add_flag("--all", args->all, "Those that have ended, too");
  app.add_option("--task", args->task, "Only those of this task");
  choose(app.add_option("--owner", args->owner, "Only those of this owner"), {"agent", "user", "system"});
  app.add_flag("--background", args->background, "Only those without a task");
  return [args, &globals] { return list(*args, globals); };
}

}  // namespace

const Verb kLs = {"ls", "List the terminals", &declare};

}  // namespace ttyward::cli
