// The table of the services' calls: which method answers which request. Split by subject only so that the
// files compile at the same time.
#pragma once

#include <vector>

#include "app/services.h"
#include "daemon/call_row.h"

namespace ttyward::daemon {

// All but status, stop, reload and person_token, which the daemon answers itself.
std::vector<CallRow> call_table(app::Services& services);

std::vector<CallRow> command_rows(app::Services& services);
std::vector<CallRow> terminal_rows(app::Services& services);
std::vector<CallRow> watching_rows(app::Services& services);
std::vector<CallRow> policy_rows(app::Services& services);

}  // namespace ttyward::daemon
