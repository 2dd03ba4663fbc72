#include "app/layered_run.h"

#include <utility>

#include "sandbox/profile.h"

namespace ttyward::app {

bool can_keep_changes(const sandbox::Plan& plan) {
  return plan.walls == sandbox::Walls::Namespaces && plan.writes(plan.workspace);
}

base::Result<changes::PreparedSet> put_on_layer(const changes::Shelf& shelf, const LayeredRun& run,
                                                sandbox::Plan& plan) {
  using Access = sandbox::Entry::Access;
  if (plan.walls != sandbox::Walls::Namespaces) {
    return base::fail(base::ErrorCode::Unsupported,
                      "a command can be tried only in namespaces of its own; the profile " + plan.profile +
                          " has none. Use the profile workspace");
  }
  changes::NewSet wanted;
  wanted.id = run.id;
  wanted.workspace = plan.workspace;
  wanted.command = run.command;
  wanted.session = run.session;
  wanted.purpose = run.purpose;
  if (plan.run_as) {
    // The upper folder keeps the owners of files as they are.
    if (std::exchange(plan.run_as->stand_in, false)) plan.notes.emplace_back(sandbox::kRunsAsRoot);
    wanted.owner = std::pair(plan.run_as->user, plan.run_as->group);
  }
  for (const std::string& path : plan.read_only) {
    if (path.starts_with(plan.workspace + "/"))
      wanted.protected_paths.push_back(path.substr(plan.workspace.size() + 1));
  }
  auto prepared = shelf.prepare(wanted);
  if (!prepared) return prepared;
  bool found = false;
  for (sandbox::Entry& entry : plan.entries) {
    if (entry.path == plan.workspace) {
      entry.access = Access::Overlay;
      entry.upper = prepared->upper;
      entry.work = prepared->work;
      found = true;
    } else if (entry.access == Access::Write && run.purpose == changes::Purpose::Try) {
      entry.access = Access::Scratch;
    }
  }
  if (!found) {
    static_cast<void>(std::move(prepared->set).discard());
    return base::fail(
        base::ErrorCode::InvalidArgument,
        "the profile " + plan.profile + " does not show the workspace, so nothing can be tried in it");
  }
  return prepared;
}

}  // namespace ttyward::app
