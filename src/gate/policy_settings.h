// From the configuration to what the gate goes by: one place, for the daemon, for verbs that decide without
// one, and for `check`.
#pragma once

#include <string>
#include <vector>

#include "base/folders.h"
#include "config/settings.h"
#include "gate/judge.h"

namespace ttyward::gate {

policy::Mode mode_of(config::PolicyMode mode);

// Where tokens, journals, history and sockets are.
std::vector<std::string> own_folders(const base::Folders& folders);

JudgeSettings judge_settings(const config::PolicySettings& from, std::string home);

}  // namespace ttyward::gate
