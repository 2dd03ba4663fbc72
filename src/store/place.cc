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

#include "base/private_folder.h"
#include "base/unique_fd.h"

namespace ttyward::store {
namespace {

// Links on the way are the user's business; SQLite is told to follow none.
base::Result<std::string> real_folder(const std::string& path) {
  std::array<char, PATH_MAX> real{};
  if (::realpath(path.c_str(), real.data()) == nullptr) {
    if (auto made = base::open_private_folder(path, base::IfMissing::Create); !made)
      return tl::unexpected(made.error());
    if (::realpath(path.c_str(), real.data()) == nullptr)
      return base::fail_errno(errno, "cannot find " + path);
  }
  return std::string(real.data());
}

// Looked at by name, never opened: closing any descriptor of the file would
// drop the locks that SQLite has on it elsewhere in this process. The folder is
// ours alone, so nobody can exchange the file meanwhile.
base::Result<void> look_at(int folder, const std::string& name, struct stat& st) {
  if (::fstatat(folder, name.c_str(), &st, AT_SYMLINK_NOFOLLOW) == 0) return {};
  return base::fail_errno(errno, "cannot look at " + name);
}

base::Result<void> check_fit(const struct stat& st, const std::string& path) {
  const auto refuse = [&](const std::string& why) {
    return base::fail(base::ErrorCode::PermissionDenied, path + why);
  };
  if (S_ISLNK(st.st_mode))
    return refuse(" is a symbolic link; history is not written through one, remove it");
  if (!S_ISREG(st.st_mode)) return refuse(" is not a file");
  if (st.st_uid != ::geteuid())
    return refuse(" belongs to another user (uid " + std::to_string(st.st_uid) + ")");
  if ((st.st_mode & 077) != 0) return refuse(" is open to other users; run: chmod go= '" + path + "'");
  return {};
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
  const auto real = real_folder(slash == 0 ? "/" : path.substr(0, slash));
  if (!real) return tl::unexpected(real.error());
  const auto folder = base::open_private_folder(*real, base::IfMissing::Fail);
  if (!folder) return tl::unexpected(folder.error());
  const std::string name = path.substr(slash + 1);
  struct stat st{};
  auto seen = look_at(folder->get(), name, st);
  if (!seen && seen.error().sys_errno == ENOENT) {
    const base::UniqueFd made(
        ::openat(folder->get(), name.c_str(), O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600));
    if (!made && errno != EEXIST) return base::fail_errno(errno, "cannot make " + path);
    seen = look_at(folder->get(), name, st);
  }
  if (!seen) return tl::unexpected(seen.error());
  if (auto fit = check_fit(st, *real + "/" + name); !fit) return tl::unexpected(fit.error());
  return PreparedFile{*real + "/" + name, identity_of(st)};
}

base::Result<std::string> set_aside(const PreparedFile& file) {
  const std::string folder = file.path.substr(0, file.path.rfind('/'));
  const base::UniqueFd lock(::open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (!lock || ::flock(lock.get(), LOCK_EX) != 0) return base::fail_errno(errno, "cannot lock " + folder);
  struct stat st{};
  if (::lstat(file.path.c_str(), &st) != 0 || identity_of(st) != file.identity) return std::string();

  std::string aside = free_name(file.path);
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
