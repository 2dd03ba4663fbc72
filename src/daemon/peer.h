// The process at the other end of a socket, as the kernel knows it.
#pragma once

#include <sys/types.h>

#include "base/unique_fd.h"

namespace ttyward::daemon {

struct Peer {
  bool same_user = false;
  uid_t uid = 0;
  pid_t pid = 0;           // when it connected; 0: of another pid namespace
  base::UniqueFd process;  // that very process; none: it is gone, or the kernel cannot say

  // Whether `pid` still means the process that connected.
  bool alive() const { return process_alive(process.get()); }
  static bool process_alive(int pidfd);
};

Peer peer_of(int socket);

}  // namespace ttyward::daemon
