#include "store/place.h"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <climits>
#include <cstdlib>
#include <ctime>

#include "base/unique_fd.h"

namespace ttyward::store {
namespace {

constexpr mode_t kOthers = 077;

base::Result<void> make_parts(const std::string& path) {
  for (size_t slash = path.find('/', 1);; slash = path.find('/', slash + 1)) {
    const std::string part = path.substr(0, slash);
    if (::mkdir(part.c_str(), 0700) != 0 && errno != EEXIST) {
      const int error = errno;
      // An existing folder on a read-only or foreign file system says so before it says EEXIST.
      struct stat st{};
      if (::stat(part.c_str(), &st) != 0) return base::fail_errno(error, "cannot make the folder " + part);
    }
    if (slash == std::string::npos) return {};
  }
}

base::Result<void> check_ours(const struct stat& st, const std::string& shown) {
  if (st.st_uid != ::geteuid()) {
    return base::fail(base::ErrorCode::PermissionDenied,
                      shown + " belongs to another user (uid " + std::to_string(st.st_uid) + ")");
  }
  if ((st.st_mode & kOthers) != 0) {
    return base::fail(base::ErrorCode::PermissionDenied,
                      shown + " is open to other users; run: chmod go= '" + shown + "'");
  }
  return {};
}

base::Result<std::string> real_folder(const std::string& path) {
  std::array<char, PATH_MAX> real{};
  if (::realpath(path.c_str(), real.data()) == nullptr) return base::fail_errno(errno, "cannot find " + path);
  return std::string(real.data());
}

FileIdentity identity_of(const struct stat& st) {
  return {st.st_dev, st.st_ino};
}

std::string free_name(const std::string& path) {
  const std::string wanted = path + ".corrupt-" + std::to_string(::time(nullptr));
  std::string name = wanted;
  struct stat st{};
  for (int n = 2; ::lstat(name.c_str(), &st) == 0; ++n) name = wanted + "-" + std::to_string(n);
  return name;
}

}  // namespace

base::Result<PreparedFile> prepare_file(const std::string& path) {
  const size_t slash = path.rfind('/');
  if (path.empty() || path.front() != '/' || slash + 1 == path.size()) {
    return base::fail(base::ErrorCode::InvalidArgument, "not the full path of a file: '" + path + "'");
  }
  const std::string folder = slash == 0 ? "/" : path.substr(0, slash);
  if (auto made = make_parts(folder); !made) return tl::unexpected(made.error());
  const auto real = real_folder(folder);
  if (!real) return tl::unexpected(real.error());
  struct stat st{};
  if (::stat(real->c_str(), &st) != 0) return base::fail_errno(errno, "cannot look at " + *real);
  if (auto ours = check_ours(st, *real); !ours) return tl::unexpected(ours.error());

  const std::string name = *real + path.substr(slash);
  const base::UniqueFd file(
      ::open(name.c_str(), O_RDWR | O_CREAT | O_NOFOLLOW | O_CLOEXEC | O_NONBLOCK, 0600));
  if (!file) {
    if (errno == ELOOP) {
      return base::fail(base::ErrorCode::PermissionDenied,
                        name + " is a symbolic link; history is not written through one, remove it");
    }
    return base::fail_errno(errno, "cannot open " + name);
  }
  if (::fstat(file.get(), &st) != 0) return base::fail_errno(errno, "cannot look at " + name);
  if (!S_ISREG(st.st_mode)) return base::fail(base::ErrorCode::InvalidArgument, name + " is not a file");
  if (auto ours = check_ours(st, name); !ours) return tl::unexpected(ours.error());
  return PreparedFile{name, identity_of(st)};
}

base::Result<std::string> set_aside(const PreparedFile& file) {
  const std::string folder = file.path.substr(0, file.path.rfind('/'));
  const base::UniqueFd lock(::open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (!lock || ::flock(lock.get(), LOCK_EX) != 0) return base::fail_errno(errno, "cannot lock " + folder);
  struct stat st{};
  if (::lstat(file.path.c_str(), &st) != 0 || identity_of(st) != file.identity) return std::string();

  const std::string aside = free_name(file.path);
  // The log goes along: it may hold what the main file lacks.
  if (::rename((file.path + "-wal").c_str(), (aside + "-wal").c_str()) != 0 && errno != ENOENT) {
    return base::fail_errno(errno, "cannot set aside the log of " + file.path);
  }
  if (::unlink((file.path + "-shm").c_str()) != 0 && errno != ENOENT) {
    return base::fail_errno(errno, "cannot remove the index of " + file.path);
  }
  if (::rename(file.path.c_str(), aside.c_str()) != 0) {
    return base::fail_errno(errno, "cannot set aside " + file.path);
  }
  return aside;
}

}  // namespace ttyward::store
