// Files below a folder that others can change at any time, reached by descriptor only.
//
// Every path is relative to an open folder and resolved by openat2(2) without following a symbolic link,
// leaving the folder or crossing into another mount. A path that was swapped for a link is an error, never a
// way out. Pure functions of descriptors; any thread.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "base/unique_fd.h"
#include "changes/node.h"

namespace ttyward::changes {

// `path` may be "" or ".": the root itself. O_CLOEXEC and O_NOFOLLOW are added.
base::Result<base::UniqueFd> open_beneath(int root, const std::string& path, int flags);
// An existing file for reading. Refuses what is not a regular file, without blocking on a fifo.
base::Result<base::UniqueFd> open_file(int root, const std::string& path);

// A path as its folder, open, and its last part. Names for *at calls that do not follow links.
struct Spot {
  base::UniqueFd folder;
  std::string name;
};
base::Result<Spot> spot_of(int root, const std::string& path);

// None if there is nothing, or something above it is not a folder any more.
base::Result<Node> look(int root, const std::string& path);
base::Result<Node> look_at(int folder, const std::string& name, const std::string& shown);

struct Named {
  std::string name;
  Node node;
  bool whiteout = false;  // a character device with the number 0:0
};
// What a folder holds, by name. `path` names it in errors.
base::Result<std::vector<Named>> entries_of(int folder, const std::string& path);

base::Result<std::string> link_target(int folder, const std::string& name);
// A file's content if it has at most `most` bytes; nullopt if it is larger.
base::Result<std::optional<std::string>> content(int fd, uint64_t most, const std::string& shown);

// Copies all bytes, sharing blocks where the file system can.
base::Result<void> copy_bytes(int from, int to, const std::string& shown);
// Copies a file, a link or a whole tree to `name` in `to`, which must not exist. Permissions without setuid,
// setgid and sticky bits, and times, are kept; the owner too where we are root. Special files are left out.
base::Result<void> copy_node(int from_folder, const std::string& from_name, int to_folder,
                             const std::string& to_name);

// Removes a file or a whole tree, however deep, also where a folder has no permissions. Nothing there: fine.
base::Result<void> remove_node(int folder, const std::string& name);

// Bytes on disk of a tree, as du counts them.
uint64_t disk_usage(int folder, const std::string& path);

// Whether a file must be on the disk, so that it survives a crash of the machine, when the call returns.
enum class Durable : uint8_t { Later, Now };
// Writes a small file so that a reader finds the old content or the new one.
base::Result<void> write_atomically(int folder, const std::string& name, std::string_view text,
                                    Durable durable = Durable::Later);
base::Result<std::string> read_small(int folder, const std::string& name, uint64_t most);

}  // namespace ttyward::changes
