// What is at a path: a file, a folder, a link, something else or nothing, with what tells one state from
// another.
#pragma once

#include <sys/stat.h>

#include <cstdint>
#include <string>

namespace ttyward::changes {

enum class NodeType : uint8_t { None, File, Folder, Link, Special };

struct Node {
  NodeType type = NodeType::None;
  uint32_t mode = 0;  // permission bits, setuid and the like included
  uint64_t inode = 0;
  uint64_t size = 0;
  uint64_t links = 0;
  uint32_t user = 0;
  uint32_t group = 0;
  int64_t modified_ns = 0;
  // When the inode changed last: the one time that a program cannot set.
  int64_t changed_ns = 0;

  bool operator==(const Node&) const = default;
  bool exists() const { return type != NodeType::None; }
};

inline int64_t nanoseconds(const timespec& time) {
  return int64_t{time.tv_sec} * 1'000'000'000 + time.tv_nsec;
}

inline NodeType type_of(mode_t mode) {
  return S_ISREG(mode)   ? NodeType::File
         : S_ISDIR(mode) ? NodeType::Folder
         : S_ISLNK(mode) ? NodeType::Link
                         : NodeType::Special;
}

inline Node node_of(const struct stat& info) {
  Node made;
  made.type = type_of(info.st_mode);
  made.mode = info.st_mode & 07777U;
  made.inode = info.st_ino;
  made.size = static_cast<uint64_t>(info.st_size);
  made.links = info.st_nlink;
  made.user = info.st_uid;
  made.group = info.st_gid;
  made.modified_ns = nanoseconds(info.st_mtim);
  made.changed_ns = nanoseconds(info.st_ctim);
  return made;
}

}  // namespace ttyward::changes
