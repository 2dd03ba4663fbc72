#include "daemon/peer.h"

#include <poll.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

namespace ttyward::daemon {
namespace {

#ifndef SO_PEERPIDFD
constexpr int SO_PEERPIDFD = 77;  // Linux 6.5
#endif

base::UniqueFd pidfd_of(int socket, pid_t pid) {
  int fd = -1;
  socklen_t size = sizeof fd;
  if (::getsockopt(socket, SOL_SOCKET, SO_PEERPIDFD, &fd, &size) == 0) return base::UniqueFd(fd);
  if (pid <= 0) return {};
  // An older kernel: the number may have been given away between connect and now, which is a moment.
  return base::UniqueFd(static_cast<int>(::syscall(SYS_pidfd_open, pid, 0)));
}

}  // namespace

bool Peer::process_alive(int pidfd) {
  if (pidfd < 0) return false;
  pollfd entry{pidfd, POLLIN, 0};
  return ::poll(&entry, 1, 0) == 0;
}

Peer peer_of(int socket) {
  Peer peer;
  ucred credentials{};
  socklen_t size = sizeof credentials;
  if (::getsockopt(socket, SOL_SOCKET, SO_PEERCRED, &credentials, &size) != 0) return peer;
  peer.uid = credentials.uid;
  peer.pid = credentials.pid;
  peer.same_user = credentials.uid == ::geteuid();
  if (peer.same_user) peer.process = pidfd_of(socket, peer.pid);
  return peer;
}

}  // namespace ttyward::daemon
