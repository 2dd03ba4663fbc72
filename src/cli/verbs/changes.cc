// ttyward changes, apply, discard, undo: what becomes of what a command changed on a layer. They need no
// daemon.
#include <fmt/format.h>
#include <unistd.h>

#include <memory>
#include <string>
#include <vector>

#include "app/change_objects.h"
#include "base/folders.h"
#include "changes/shelf.h"
#include "cli/change_text.h"
#include "cli/current_folder.h"
#include "cli/daemon_verb.h"
#include "cli/table.h"
#include "cli/time_text.h"
#include "cli/verbs/verbs.h"

namespace ttyward::cli {
namespace changes_verb {
namespace {

using changes::ChangeSet;

struct Arguments {
  std::string id;
  std::vector<std::string> paths;
  bool diff = false;
  bool force = false;
};

changes::Shelf shelf() {
  return changes::Shelf(base::user_folders());
}

int failed(const char* verb, const base::Error& error) {
  const bool usage =
      error.code == base::ErrorCode::NotFound || error.code == base::ErrorCode::InvalidArgument;
  return complain(verb, error.message, usage ? kExitUsage : kExitFailure);
}

int list_sets(const Globals& globals) {
  wire::ChangeSetList list;
  for (const changes::Info& info : shelf().list()) list.sets.push_back(app::row_object(info));
  if (globals.json) return print_answer("changes", list);
  if (list.sets.empty()) {
    fmt::print("no change sets are kept; ttyward try 'COMMAND' makes one\n");
    return 0;
  }
  Table table({{"ID"}, {"STATE"}, {"WHEN"}, {"WORKSPACE", true, Cut::Begin}, {"COMMAND", true}});
  for (const wire::ChangeSetRow& row : list.sets)
    table.add({row.command_id, row.state, time_text(row.created_at ? row.created_at->ms : 0),
               short_path(row.workspace), one_line(row.command)});
  std::string out;
  for (const std::string& line : table.lines(0, Paint::for_stdout())) out += line + "\n";
  return print_text("changes", out);
}

int show(const Arguments& args, const Globals& globals) {
  if (args.id.empty()) return list_sets(globals);
  auto set = shelf().open(args.id, ChangeSet::Access::Read);
  if (!set) return failed("changes", set.error());
  if (set->running() && !globals.json)
    return complain("changes", "the command still runs; its changes are known when it has ended", 0);
  auto paths = set->running() ? std::vector<std::string>() : paths_in(*set, args.paths);
  if (!paths) return failed("changes", paths.error());
  wire::ChangesRequest request;
  request.command = args.id;
  request.paths = std::move(*paths);
  request.diff = args.diff;
  request.limit = 1'000'000;
  auto answer = app::answer_changes(shelf(), request);
  if (!answer) return failed("changes", answer.error());
  if (globals.json) return print_answer("changes", *answer);
  const Paint paint = Paint::for_stdout();
  if (args.diff) {
    if (answer->diff_cut) complain("changes", "the patch is longer than 1 MiB and was cut: name paths", 0);
    return print_text("changes",
                      ::isatty(STDOUT_FILENO) != 0 ? shown_patch(answer->diff, paint) : answer->diff);
  }
  return print_text(
      "changes",
      fmt::format("{} in {}: {}\n{}", answer->changes.state, one_line(short_path(answer->changes.workspace)),
                  change_totals(answer->changes), change_lines(answer->changes, paint)));
}

int apply(const Arguments& args, const Globals& globals) {
  auto set = shelf().open(args.id, ChangeSet::Access::Exclusive);
  if (!set) return failed("apply", set.error());
  auto paths = paths_in(*set, args.paths);
  if (!paths) return failed("apply", paths.error());
  auto applied = set->apply({std::move(*paths), args.force});
  if (!applied) return failed("apply", applied.error());
  return report_applied("apply", "applied", app::applied_object(args.id, *applied), globals.json);
}

int undo(const Arguments& args, const Globals& globals) {
  wire::UndoRequest request;
  request.cwd = current_folder();
  request.command = args.id;
  request.force = args.force;
  auto undone = app::undo_changes(shelf(), request);
  if (!undone) return failed("undo", undone.error());
  return report_applied("undo", "took back", *undone, globals.json);
}

int discard(const Arguments& args, const Globals& globals) {
  auto set = shelf().open(args.id, ChangeSet::Access::Exclusive);
  if (!set) return failed("discard", set.error());
  if (auto gone = std::move(*set).discard(); !gone) return failed("discard", gone.error());
  return globals.json ? print_answer("discard", wire::Discarded{}) : 0;
}

std::function<int()> declare_changes(CLI::App& app, const Globals& globals) {
  auto args = std::make_shared<Arguments>();
  app.add_option("ID", args->id, "The command whose changes to show; without it, all change sets are listed");
  app.add_option("PATH", args->paths, "Only these files and folders");
  app.add_flag("--diff", args->diff, "Show the lines, as a patch in the format of git");
  return [args, &globals] { return show(*args, globals); };
}

std::function<int()> declare_apply(CLI::App& app, const Globals& globals) {
  auto args = std::make_shared<Arguments>();
  app.add_option("ID", args->id, "The command whose changes to apply")->required();
  app.add_option("PATH", args->paths, "Only these files and folders");
  app.add_flag("--force", args->force, "Replace what changed in the workspace meanwhile");
  return [args, &globals] { return apply(*args, globals); };
}

std::function<int()> declare_undo(CLI::App& app, const Globals& globals) {
  auto args = std::make_shared<Arguments>();
  app.add_option("ID", args->id, "The command whose changes to take back (default: those applied last here)");
  app.add_flag("--force", args->force, "Also where something changed since");
  return [args, &globals] { return undo(*args, globals); };
}

std::function<int()> declare_discard(CLI::App& app, const Globals& globals) {
  auto args = std::make_shared<Arguments>();
  app.add_option("ID", args->id, "The command whose changes to remove")->required();
  return [args, &globals] { return discard(*args, globals); };
}

}  // namespace
}  // namespace changes_verb

const Verb kChanges = {"changes", "Show what a command changed that ran with try",
                       &changes_verb::declare_changes};
const Verb kApply = {"apply", "Put the changes of a command that ran with try into the workspace",
                     &changes_verb::declare_apply};
const Verb kUndo = {"undo", "Take back the changes that were applied last", &changes_verb::declare_undo};
const Verb kDiscard = {"discard", "Remove the changes of a command that ran with try",
                       &changes_verb::declare_discard};

}  // namespace ttyward::cli
