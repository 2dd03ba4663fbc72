// What `ttyward-hold link` does: a process that keeps the link to one place.
#pragma once

namespace ttyward::relay {

// Ends in the caller when the link's sockets are there, or with the reason on stderr.
int link_process(int argc, char** argv);

}  // namespace ttyward::relay
