// A confined command that runs on a layer over its workspace.
#pragma once

#include <string>

#include "base/result.h"
#include "changes/shelf.h"
#include "sandbox/plan.h"

namespace ttyward::app {

struct LayeredRun {
  std::string id;       // of the command
  std::string command;  // as its caller wrote it
  std::string session;  // empty: none
  changes::Purpose purpose = changes::Purpose::Try;
};

// Whether what a command with this plan changes can be kept for `undo`.
bool can_keep_changes(const sandbox::Plan& plan);

// Makes a change set for the command and changes the plan so that whatever it writes goes there: the
// workspace becomes the layer, and other folders that it could write to are thrown away at the end. The set
// is to be kept until the command has ended: it says that it is in use.
base::Result<changes::PreparedSet> put_on_layer(const changes::Shelf& shelf, const LayeredRun& run,
                                                sandbox::Plan& plan);

}  // namespace ttyward::app
