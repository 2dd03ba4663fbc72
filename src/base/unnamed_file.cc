#include "base/unnamed_file.h"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>

namespace ttyward::base {

Result<UniqueFd> make_unnamed_file(int folder, int flags) {
  UniqueFd file(::openat(folder, ".", O_TMPFILE | O_RDWR | O_CLOEXEC | flags, 0600));
  if (file) return file;
  // EISDIR: a kernel or file system that does not know O_TMPFILE sees a directory to be written.
  if (errno == EOPNOTSUPP || errno == EISDIR) {
    return fail(ErrorCode::Unsupported, "the file system has no files without a name");
  }
  return fail_errno(errno, "cannot make a file");
}

Result<void> give_name(int file, int folder, const std::string& name) {
  const std::string shown = "/proc/self/fd/" + std::to_string(file);
  if (::linkat(AT_FDCWD, shown.c_str(), folder, name.c_str(), AT_SYMLINK_FOLLOW) == 0) return {};
  return fail_errno(errno, "cannot make the file " + name);
}

}  // namespace ttyward::base
