#include "sandbox/temporary_folder.h"

#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <filesystem>
#include <initializer_list>
#include <utility>

namespace ttyward::sandbox {

base::Result<TemporaryFolder> TemporaryFolder::make(uid_t owner, gid_t group) {
  TemporaryFolder made;
  for (std::string path : {"/tmp/ttyward-XXXXXX", "/var/tmp/ttyward-XXXXXX"}) {
    if (::mkdtemp(path.data()) == nullptr) continue;
    made.path_ = std::move(path);
    break;
  }
  if (made.path_.empty()) return base::fail_errno(errno, "cannot make a folder for temporary files");
  if (::geteuid() == 0 && ::lchown(made.path_.c_str(), owner, group) != 0)
    return base::fail_errno(errno, "cannot make a folder for temporary files");
  return made;
}

TemporaryFolder::TemporaryFolder(TemporaryFolder&& other) noexcept : path_(std::exchange(other.path_, {})) {}

TemporaryFolder& TemporaryFolder::operator=(TemporaryFolder&& other) noexcept {
  std::swap(path_, other.path_);
  return *this;
}

TemporaryFolder::~TemporaryFolder() {
  std::error_code ignored;
  if (!path_.empty()) std::filesystem::remove_all(path_, ignored);
}

}  // namespace ttyward::sandbox
