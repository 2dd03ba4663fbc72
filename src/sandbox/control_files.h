// Which files of a workspace decide what its owner's programs do. Internal to profile.h.
#pragma once

#include <string>
#include <vector>

#include "sandbox/plan.h"

namespace ttyward::sandbox {

// Adds those of the workspace to Plan::read_only: at its top and in `directory`, where commands start, also
// those that do not exist; elsewhere those that a bounded look finds. Names in `unprotected` are left out.
void protect_control_files(Plan& plan, const std::string& directory,
                           const std::vector<std::string>& unprotected);

}  // namespace ttyward::sandbox
