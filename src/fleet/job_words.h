// Records of jobs for people, and as exit codes.
#pragma once

#include <string>

#include "fleet/messages.h"

namespace ttyward::fleet {

// What a shell would make of it: the code itself, 128 + signal, 124 for a time limit, 126 for a command that
// was denied, 125 for what was lost or failed otherwise; kExitNotYet while it has not ended.
int exit_code_of(const JobRecord& record);
// "exit 0", "SIGKILL", "running", "lost".
std::string how_it_ended(const JobRecord& record);
// Text from elsewhere in one line, control characters made visible.
std::string shown(std::string_view text);

}  // namespace ttyward::fleet
