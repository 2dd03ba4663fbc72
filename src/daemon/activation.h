// Being started by a service manager that listens for us, in systemd's way:
// LISTEN_FDS and LISTEN_PID hand sockets over, NOTIFY_SOCKET wants to know.
#pragma once

#include <string>

#include "base/result.h"
#include "daemon/listener.h"

namespace ttyward::daemon {

// How many descriptors were handed to this process, from 3 on. Forgets the
// variables, so that no child takes them for its own.
int take_activation();

// A socket that was handed over: it must listen, be a unix stream, and lie in a
// private folder of ours. Sets `sockets` to that folder.
base::Result<Listener> adopt_listener(base::UniqueFd socket, std::string& sockets);

// "READY=1", "RELOADING=1", "STOPPING=1"; does nothing without a service manager.
void notify_manager(const std::string& state);

}  // namespace ttyward::daemon
