// A socket that listens, and the file it has.
#pragma once

#include <sys/types.h>

#include <string>

#include "base/result.h"
#include "base/unique_fd.h"

namespace ttyward::daemon {

// Bound by us in a folder of ours, or handed over by a service manager.
struct Listener {
  base::UniqueFd socket;
  base::UniqueFd folder;  // none: the file is not ours to remove
  std::string path;       // of the folder
  std::string file;
  ino_t inode = 0;  // of the file we made

  // Whether the file is still the one we made: somebody may have replaced it.
  bool file_is_ours() const;
  // Whether clients find it under its path; true for one that was handed over.
  bool in_place() const;
};

// Binds `file` in `folder`, which must be private to us and is made if missing.
// Whatever has the name is replaced: the caller knows that nobody listens there.
base::Result<Listener> bind_listener(const std::string& folder, const std::string& file);

}  // namespace ttyward::daemon
