#include "sandbox/stand_in.h"

#include <sched.h>
#include <sys/prctl.h>
#include <sys/wait.h>

#include <array>
#include <cerrno>
#include <csignal>
#include <cstddef>

#include "sandbox/identity_map.h"
#include "sandbox/kernel.h"

namespace ttyward::sandbox {
namespace {

struct Request {
  gid_t group = 0;
  volatile int fd = -1;
  volatile int error = 0;
};

TTYWARD_NO_SANITIZE bool become_stand_in() {
  const int dumpable = ::prctl(PR_GET_DUMPABLE);
  const bool done = ::syscall(SYS_setgroups, 0, nullptr) == 0 &&
                    ::syscall(SYS_setresgid, kStandIn, kStandIn, kStandIn) == 0 &&
                    ::syscall(SYS_setresuid, kStandIn, kStandIn, kStandIn) == 0;
  const int error = errno;
  // Another user clears this for everybody who shares our memory, and without it no map can be written.
  ::prctl(PR_SET_DUMPABLE, dumpable);
  errno = error;
  return done;
}

// Shares our memory and descriptors, and we wait for it: what it opens is ours.
TTYWARD_NO_SANITIZE int make_namespace(void* argument) {
  Request& request = *static_cast<Request*>(argument);
  if (become_stand_in() && ::unshare(CLONE_NEWUSER) == 0 &&
      map_identity({0, kStandIn}, {request.group, kStandIn}))
    request.fd = ::open("/proc/self/ns/user", O_RDONLY | O_CLOEXEC);
  request.error = request.fd >= 0 ? 0 : errno;
  ::_exit(0);
}

}  // namespace

base::UniqueFd make_stand_in(gid_t group) {
  constexpr size_t kStack = 32 * 1024;
  alignas(16) std::array<std::byte, kStack> stack;
  Request request;
  request.group = group;
  const pid_t child = ::clone(make_namespace, stack.data() + stack.size(),
                              CLONE_VM | CLONE_VFORK | CLONE_FILES | SIGCHLD, &request);
  if (child < 0) return {};
  while (::waitpid(child, nullptr, __WALL) < 0 && errno == EINTR) {
  }
  errno = request.error;
  return base::UniqueFd(request.fd);
}

bool can_stand_in(const std::string& folder, gid_t group) {
  const base::UniqueFd names = make_stand_in(group);
  if (!names) return false;
  const base::UniqueFd tree(kernel::open_tree(AT_FDCWD, folder.c_str(), OPEN_TREE_CLONE));
  return tree && kernel::map_owners(tree.get(), names.get(), false) == 0;
}

}  // namespace ttyward::sandbox
