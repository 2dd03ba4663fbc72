// Whether the process at the other end of a socket is certain to be a person's: somebody at a terminal.
//
// Certain means: it has a controlling terminal; every ancestor can be seen and is no login, job or relay that
// others can use (sshd, cron, at, socat …); and the program that gave it that terminal is a terminal of some
// kind, not a script or a service manager. A person who works otherwise brings a token.
//
// What a hostile program of the same user can still do about it is in docs/security.md.
#pragma once

#include <sys/types.h>

#include <functional>
#include <string>
#include <vector>

#include "place/place.h"

namespace ttyward::daemon {

// A process and its ancestors, innermost first, up to the first one or the end of what can be seen.
struct Lineage {
  std::vector<pty::ProcessStat> chain;
  bool whole = false;  // it ends where processes begin, and nothing changed while it was read
};
Lineage lineage_of(pid_t pid);

// Why the innermost of these is not certain to be a person's; empty: it is. `holds_persons` says whether a
// process is the holder of a person's terminal of ours.
std::string doubt_about(const Lineage& lineage, const std::function<bool(pid_t)>& holds_persons);

}  // namespace ttyward::daemon
