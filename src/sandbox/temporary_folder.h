// A folder for temporary files of one command, where it has no private /tmp. Removed with the object.
#pragma once

#include <sys/types.h>

#include <string>

#include "base/result.h"

namespace ttyward::sandbox {

class TemporaryFolder {
 public:
  TemporaryFolder() = default;
  static base::Result<TemporaryFolder> make(uid_t owner, gid_t group);
  TemporaryFolder(TemporaryFolder&& other) noexcept;
  TemporaryFolder& operator=(TemporaryFolder&& other) noexcept;
  ~TemporaryFolder();

  const std::string& path() const { return path_; }  // empty: none

 private:
  std::string path_;
};

}  // namespace ttyward::sandbox
