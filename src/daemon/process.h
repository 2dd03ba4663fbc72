// The life of a daemon process around its application.
//
// Flow at a glance: lock (exactly one daemon per state folder) → socket → application
// → ready → loop, until SIGTERM, SIGINT or a `stop` call → application stops → what is
// still to be sent is sent → end. Terminals stay alive in their holders. SIGHUP reloads.
//
// A second daemon finds the lock taken and ends. The socket of a daemon that died is
// replaced. A socket file that somebody removes is made anew, elsewhere if it must be:
// daemon.lock says where.
#pragma once

#include <cstdint>

#include "base/folders.h"
#include "daemon/application.h"

namespace ttyward::daemon {

enum class Where : uint8_t { Foreground, Background };

struct RunOptions {
  base::Folders folders;
  Where where = Where::Foreground;
};

// The exit status of the process. Complaints go to standard error as one line that begins with `complain_as`.
inline constexpr int kExitRunning = 1;  // in the foreground: a daemon is running already
inline constexpr int kExitFailed = 125;
int run(const RunOptions& options, const MakeApplication& make, const char* complain_as);

}  // namespace ttyward::daemon
