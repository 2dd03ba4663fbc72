// Where the database lives: a private file in a private folder, and how a damaged one is put out of the way.
#pragma once

#include <cstdint>
#include <string>

#include "base/result.h"

namespace ttyward::store {

// Which file a name meant at some moment.
struct FileIdentity {
  uint64_t device = 0;
  uint64_t inode = 0;

  bool operator==(const FileIdentity&) const = default;
};

struct PreparedFile {
  std::string path;  // without symbolic links
  FileIdentity identity;
};

// Makes what is missing of the folder (0700) and the file (0600). Both must be
// ours, closed to others, and the file no symbolic link.
base::Result<PreparedFile> prepare_file(const std::string& path);

// Renames a damaged database (and its log) to PATH.corrupt-<time> and returns
// that name; empty if another process has done so meanwhile. Nobody may have it
// open in this process.
base::Result<std::string> set_aside(const PreparedFile& file);

}  // namespace ttyward::store
