#include "base/private_folder.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>

namespace ttyward::base {
namespace {

constexpr mode_t kOthers = 077;

Result<void> check_ours(const struct stat& st, const std::string& shown) {
  if (st.st_uid != ::geteuid()) {
    return fail(ErrorCode::PermissionDenied,
                shown + " belongs to another user (uid " + std::to_string(st.st_uid) + ")");
  }
  if ((st.st_mode & kOthers) != 0) {
    return fail(ErrorCode::PermissionDenied,
                shown + " is open to other users; run: chmod go= '" + shown + "'");
  }
  return {};
}

Result<void> make_parts(const std::string& path) {
  for (size_t slash = path.find('/', 1);; slash = path.find('/', slash + 1)) {
    const std::string part = path.substr(0, slash);
    if (::mkdir(part.c_str(), 0700) != 0 && errno != EEXIST) {
      const int error = errno;
      // An existing folder on a read-only or foreign file system says so before it says EEXIST.
      struct stat st{};
      if (::stat(part.c_str(), &st) != 0) return fail_errno(error, "cannot make the folder " + part);
    }
    if (slash == std::string::npos) return {};
  }
}

}  // namespace

Result<UniqueFd> open_private_folder_at(int parent, const char* name, const std::string& shown) {
  UniqueFd fd(::openat(parent, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC));
  if (!fd) {
    const int error = errno;
    struct stat st{};
    if (::fstatat(parent, name, &st, AT_SYMLINK_NOFOLLOW) == 0 && S_ISLNK(st.st_mode)) {
      return fail_errno(ELOOP, shown + " is a symbolic link, which is not followed");
    }
    return fail_errno(error, "cannot open the folder " + shown);
  }
  struct stat st{};
  if (::fstat(fd.get(), &st) != 0) return fail_errno(errno, "cannot stat " + shown);
  if (auto ours = check_ours(st, shown); !ours) return tl::unexpected(ours.error());
  return fd;
}

Result<UniqueFd> open_private_folder(const std::string& path, IfMissing missing) {
  auto fd = open_private_folder_at(AT_FDCWD, path.c_str(), path);
  if (fd || fd.error().sys_errno != ENOENT || missing == IfMissing::Fail || path.empty()) return fd;
  if (auto made = make_parts(path); !made) return tl::unexpected(made.error());
  return open_private_folder_at(AT_FDCWD, path.c_str(), path);
}

Result<UniqueFd> open_private_file_at(int folder, const char* name, int flags, const std::string& shown) {
  // O_NONBLOCK: a FIFO planted under the name must not hang us before fstat has seen it.
  UniqueFd fd(::openat(folder, name, flags | O_NOFOLLOW | O_CLOEXEC | O_NONBLOCK, 0600));
  if (!fd) return fail_errno(errno, "cannot open " + shown + "/" + name);
  struct stat st{};
  if (::fstat(fd.get(), &st) != 0) return fail_errno(errno, "cannot stat " + shown + "/" + name);
  if (!S_ISREG(st.st_mode)) {
    return fail(ErrorCode::PermissionDenied, shown + "/" + name + " is not a regular file");
  }
  if (auto ours = check_ours(st, shown + "/" + name); !ours) return tl::unexpected(ours.error());
  return fd;
}

}  // namespace ttyward::base
