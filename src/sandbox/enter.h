// What happens between clone and exec of a confined command. Internal to prepare.h and pty/spawn.
//
// Runs in a child that shares the parent's memory (as vfork's does), so this code may only make system calls
// and write to its own stack: no allocation, no locks, no library state. Everything it needs was prepared by
// the parent. glibc's wrappers of setuid and its relatives are avoided: they would change the parent's
// threads.
//
//   parent            waits (CLONE_VFORK)
//   └─ starter        new namespaces; starts the two below as children of the parent, and ends
//      ├─ init        process 1 of the process namespace: collects orphans, ends with the namespace (init.h)
//      └─ command     builds the view of files, drops everything, becomes the command
#pragma once

#include <linux/filter.h>
#include <sys/resource.h>
#include <sys/types.h>

#include <cstddef>
#include <cstdint>

namespace ttyward::sandbox {

// The parts of a sandbox, for reports.
enum class Layer : uint8_t {
  None,
  Group,       // the cgroup: processes and memory of the sandbox together
  Namespaces,  // user, mount, IPC, UTS, cgroup and network namespaces
  Processes,   // process namespace and its init
  FileView,    // an entry of the view: `item` is the step
  Directory,   // the command's folder is not visible inside, or was exchanged
  Network,     // the loopback interface
  Limits,
  Identity,  // another user, no capabilities
  NoNewPrivileges,
  Landlock,
  Filter,  // seccomp
};
const char* layer_name(Layer layer);

struct Failure {
  Layer layer = Layer::None;
  int sys_errno = 0;
  size_t item = 0;
};

struct Step {
  enum class Kind : uint8_t {
    Bind,     // `source`, with everything mounted in it
    Scratch,  // `source` below, a thrown-away folder above; read-only if the kernel cannot
    Overlay,  // `source` below, `upper` above
    Own,      // an empty folder of the private file system
    Mask,     // an empty file nobody can read, over one that is there
    Node,     // a device
    Text,     // a file of the private file system that contains `text`
  };
  Kind kind = Kind::Bind;
  const char* source = nullptr;
  const char* target = nullptr;  // relative to the new root
  const char* upper = nullptr;
  const char* work = nullptr;
  dev_t device = 0;  // of the source when it was looked up
  ino_t inode = 0;
  bool folder = true;
  bool read_only = true;
  bool careful = false;        // the target lies within a folder that others can change; it exists
  bool own = false;            // its files are the command's user's, also where a stand-in runs it
  mode_t mode = 0755;          // Own
  const char* text = nullptr;  // Text
  size_t text_size = 0;
};

struct Link {
  const char* path = nullptr;  // relative to the new root
  const char* target = nullptr;
};

struct PathRights {
  const char* path = nullptr;
  uint64_t rights = 0;
};

struct LimitValue {
  int resource = 0;
  rlimit value{};
};

// Constant while a child runs.
struct Steps {
  bool namespaces = true;      // false: Landlock and seccomp alone
  bool user_namespace = true;  // false: the caller is root, and drops to another user at the end
  bool own_network = true;
  bool proxy = false;  // init relays connections
  uid_t user = 0;      // inside
  gid_t group = 0;
  uid_t user_outside = 0;
  gid_t group_outside = 0;
  int stand_in = -1;  // the user namespace of root's stand-in; -1: no stand-in
  const Step* steps = nullptr;
  size_t step_count = 0;
  const Link* links = nullptr;
  size_t link_count = 0;
  const char* scratch_size = "1g";
  const char* terminal = nullptr;  // shown as /dev/console; null: none
  const char* directory = nullptr;
  dev_t directory_device = 0;
  ino_t directory_inode = 0;
  int groups[2] = {-1, -1};  // files of cgroups; a process that writes "0" to them joins
  const LimitValue* limits = nullptr;
  size_t limit_count = 0;
  int landlock_version = 0;
  const PathRights* rules = nullptr;
  size_t rule_count = 0;
  sock_fprog filter{};
};

// At most so many steps: each has a descriptor open at the same time.
inline constexpr size_t kMostSteps = 1500;

int namespace_flags(const Steps& steps);  // for clone(2), without the process namespace
// In the starter, which is in the namespaces of those flags. False: `failure` says why.
bool settle_namespaces(const Steps& steps, Failure& failure);

// In the command's process, which is in its namespaces already and keeps stdio. `init_ready` is the reading
// end of a pipe to which init writes when it is ready; -1: there is no init. False: `failure` says why.
bool enter(const Steps& steps, int init_ready, Failure& failure);

}  // namespace ttyward::sandbox
