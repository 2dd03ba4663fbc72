// ttyward release: a task is done with its terminals.
#include <memory>

#include "cli/daemon_verb.h"
#include "cli/shown_text.h"
#include "cli/verbs/verbs.h"
#include "wire/types/terminal_calls.h"

namespace ttyward::cli {
namespace release_verb {
namespace {

int release(const std::string& task, const Globals& globals) {
  return with_daemon("release", [&](client::Session& daemon) -> Outcome {
    auto answer = daemon.call(wire::ReleaseRequest{task});
    if (!answer) return tl::unexpected(answer.error());
    if (globals.json) return print_answer("release", *answer);
    std::string ids;
    for (const wire::Terminal& each : answer->terminals) ids += each.id + "\n";
    if (ids.empty()) complain("release", "no terminal has the task " + one_line(task), 0);
    return print_text("release", ids);
  });
}

std::function<int()> declare(CLI::App& app, const Globals& globals) {
  auto task = std::make_shared<std::string>();
  app.add_option("TASK", *task, "The task; its terminals stay open without a task")->required();
  return [task, &globals] { return release(*task, globals); };
}

}  // namespace
}  // namespace release_verb

const Verb kRelease = {"release", "Free a task's terminals for other tasks; prints their ids",
                       &release_verb::declare};

}  // namespace ttyward::cli
