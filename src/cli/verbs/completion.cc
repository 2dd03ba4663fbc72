// ttyward completion, and the hidden ttyward manual: text made from the verbs themselves.
#include "cli/completion/completion.h"

#include <cstdio>
#include <memory>
#include <string>

#include "cli/daemon_call.h"
#include "cli/daemon_verb.h"
#include "cli/man_page.h"
#include "cli/shown_text.h"
#include "cli/verbs/verbs.h"
#include "wire/types/terminal_calls.h"

namespace ttyward::cli {
namespace completion_verb {
namespace {

// The names of terminals, and the ids of those without one. A daemon that does not run has none, and
// completing starts nothing.
int print_terminals() {
  auto answer = call_daemon("completion", wire::ListRequest{});
  std::string out;
  if (answer) {
    for (const wire::Terminal& each : answer->terminals)
      out += one_line(each.name.empty() ? each.id : each.name) + "\n";
  }
  return print_text("completion", out);
}

std::function<int()> declare_completion(CLI::App& app, const Globals&) {
  auto shell = std::make_shared<std::string>();
  app.add_option("SHELL", *shell, "The shell to complete in")->type_name("bash|zsh|fish")->required();
  return [shell, &app]() -> int {
    if (*shell == "terminals") return print_terminals();
    const Outline program = outline_of(*app.get_parent());
    std::string script;
    if (*shell == "bash") script = bash_completion(program);
    if (*shell == "zsh") script = zsh_completion(program);
    if (*shell == "fish") script = fish_completion(program);
    if (script.empty())
      return complain("completion", "there is no completion for '" + *shell + "': use bash, zsh or fish",
                      kExitUsage);
    std::fputs(script.c_str(), stdout);
    return 0;
  };
}

std::function<int()> declare_manual(CLI::App& app, const Globals&) {
  app.group("");  // for the build; people use man(1)
  auto wanted = std::make_shared<std::string>();
  app.add_option("VERB", *wanted, "A page about this verb alone")->type_name("VERB");
  auto list = std::make_shared<bool>(false);
  app.add_flag("--list", *list, "Print the names of the verbs that have a page");
  return [&app, wanted, list]() -> int {
    const Outline program = outline_of(*app.get_parent());
    if (*list) {
      for (const Outline& verb : program.commands) std::printf("%s\n", verb.name.c_str());
      return 0;
    }
    if (wanted->empty()) {
      std::fputs(man_page(program).c_str(), stdout);
      return 0;
    }
    for (const Outline& verb : program.commands) {
      if (verb.name != *wanted) continue;
      std::fputs(verb_page(program, verb).c_str(), stdout);
      return 0;
    }
    return complain("manual", "there is no verb '" + *wanted + "'; ttyward --help lists them", kExitUsage);
  };
}

}  // namespace
}  // namespace completion_verb

const Verb kCompletion = {"completion", "Print a completion script for bash, zsh or fish",
                          &completion_verb::declare_completion, true};
const Verb kManual = {"manual", "Print the manual page", &completion_verb::declare_manual, true};

}  // namespace ttyward::cli
