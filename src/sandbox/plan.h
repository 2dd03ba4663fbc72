// What a confined command may see, change and use: a value.
//
// Flow at a glance
//   profile.h      a profile, a folder and the user's settings → Plan
//   hold/launch    the Plan travels to the holder with the command
//   prepare.h      Plan → Prepared: files looked up once, the system call filter compiled
//   enter.h        Prepared is applied in the child, between clone and exec
//   result         the profile and the layers that were applied are stated
//
// Everything not listed in a Plan is invisible, so a new file on the machine is hidden until somebody shows
// it.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace ttyward::sandbox {

// What stands between the command and the machine.
enum class Walls : uint8_t {
  Namespaces,  // own view of files, processes and network; Landlock on top where the kernel has it; seccomp
  Landlock,    // Landlock and seccomp alone: weaker, for machines without user namespaces. Has its own names
  Container,   // a container of podman or docker (container.h)
};

enum class Network : uint8_t {
  None,   // a loopback interface of its own
  Proxy,  // the same, and one way out: Plan::proxy_socket, shown at kProxySocket and relayed from kProxyPort
  Host,   // the machine's
};

// Where the proxy's socket is inside, and the port of 127.0.0.1 whose connections are passed on to it.
inline constexpr char kProxySocket[] = "/run/ttyward/proxy.sock";
inline constexpr uint16_t kProxyPort = 3128;

// One file or folder of the machine that is visible, at its own path.
struct Entry {
  enum class Access : uint8_t {
    Read,
    Write,
    Scratch,  // writable; what is written is thrown away at the end. Read-only where the kernel cannot do it
    Overlay,  // writable; what is written goes to `upper`
  };
  std::string path;  // absolute, links resolved
  Access access = Access::Read;
  bool optional = true;  // skipped where it does not exist
  // Overlay: two empty or continued folders on one file system, outside of everything visible.
  std::string upper;
  std::string work;

  bool operator==(const Entry&) const = default;
};

// Per process, except `processes` and `scratch`, which count for the sandbox, and `memory` where the sandbox
// has a group of its own (Groups). 0: none.
struct Limits {
  uint64_t processes = 4096;
  uint64_t memory = 0;                   // bytes; without a group, of data (RLIMIT_DATA)
  uint64_t file_size = 0;                // bytes
  uint64_t open_files = 0;               // descriptors
  uint64_t cpu_seconds = 0;              // processor time
  uint64_t scratch = uint64_t{1} << 30;  // bytes in /tmp, home and /dev/shm together

  bool operator==(const Limits&) const = default;
};

// What is limited for all processes of the sandbox together (control_group.h).
struct Groups {
  bool memory = false;
  bool processes = false;

  bool operator==(const Groups&) const = default;
};

// Who the command runs as, where the caller is root.
struct Identity {
  uid_t user = 0;
  gid_t group = 0;
  bool stand_in = false;  // root inside, and outside a user who has no rights (stand_in.h)

  bool operator==(const Identity&) const = default;
};

struct Plan {
  std::string profile;  // its name, as results state it
  Walls walls = Walls::Namespaces;
  std::string workspace;            // absolute, links resolved; it is one of `entries`, too
  std::vector<Entry> entries;       // a later one may lie within an earlier one
  std::string home;                 // a private, empty folder at this path; empty: none
  std::string home_link;            // another path that leads to it; empty: none
  std::vector<std::string> hidden;  // folders and files within what is visible that are shown empty
  // Paths of which no one inside may change the content, nor create, rename or remove them, whether they
  // exist or not. Absolute. Where the workspace is an Overlay, those that do not exist can be created in the
  // upper folder; whoever applies that folder leaves them out.
  std::vector<std::string> read_only;
  Network network = Network::None;
  std::string proxy_socket;        // Network::Proxy: a unix socket of the machine
  std::vector<std::string> hosts;  // Network::Proxy: whom the proxy lets through (proxy/allow_list.h)
  Limits limits;
  Groups groups;
  std::optional<Identity> run_as;
  std::string image;  // Walls::Container: what it is made of, who runs it, and further options
  std::string engine;
  std::vector<std::string> engine_options;
  std::vector<std::string> notes;  // what its reader should know, in sentences

  bool operator==(const Plan&) const = default;
  bool writes(const std::string& path) const;  // by the entries: whether `path` may be changed inside
  bool keeps(const std::string& path) const;   // the same, and the change is still there afterwards
  bool shows(const std::string& path) const;
};

// Whether `path` is `folder` or in it. Both normalized.
bool is_within(const std::string& path, const std::string& folder);
// Whether it is in a folder of the system's, whose files are never the user's own.
bool is_system_path(const std::string& path);

}  // namespace ttyward::sandbox
