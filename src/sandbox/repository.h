// The git repository of a workspace: where it is, and what in it decides which programs git runs. Internal to
// profile.h.
#pragma once

#include <string>

#include "sandbox/plan.h"

namespace ttyward::sandbox {

// Shows the repository of plan.workspace where it lies elsewhere (a worktree), and protects hooks and
// configuration. A workspace without a repository may get one.
void add_repository(Plan& plan, bool writable);

// The `.git` folder of a repository among the files of a writable workspace.
void add_nested_repository(Plan& plan, const std::string& folder);

}  // namespace ttyward::sandbox
