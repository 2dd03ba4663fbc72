// `ttyward fleet worker`: takes jobs from the bus for the daemon of this host.
#pragma once

#include "fleet/invocation/invocation.h"

namespace ttyward::fleet {

// Until it is told to stop (SIGINT, SIGTERM). Commands that run then go on; the next worker reports them.
int work(const Invocation& invocation);

}  // namespace ttyward::fleet
