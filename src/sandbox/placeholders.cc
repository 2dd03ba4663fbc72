#include "sandbox/placeholders.h"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <thread>
#include <utility>

#include "sandbox/kernel.h"

namespace ttyward::sandbox {
namespace {

// An empty folder with the sticky bit is a placeholder. One bit of the mode costs nothing, and every file
// system has it.
constexpr mode_t kMark = S_ISVTX;
constexpr int kTries = 50;

// git reads this file if it is there. A dot means: this folder, as if the file were not there. Nobody else
// writes that.
constexpr char kRedirection[] = "/.git/commondir";
constexpr char kNoRedirection[] = ".\n";

bool is_file_placeholder(const std::string& path) {
  return path.ends_with(kRedirection);
}

bool make_file(int parent, const std::string& name) {
  const base::UniqueFd file(
      ::openat(parent, name.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0644));
  if (!file) return false;
  if (::geteuid() == 0) ::fchmod(file.get(), 0644);
  return ::write(file.get(), kNoRedirection, sizeof kNoRedirection - 1) > 0;
}

bool make_folder(int parent, const std::string& name) {
  if (::mkdirat(parent, name.c_str(), kMark | 0755) != 0) return false;
  // Inside it may be another user's, who looks into it.
  return ::geteuid() != 0 || ::fchmodat(parent, name.c_str(), kMark | 0755, 0) == 0;
}

bool is_marked(int fd) {
  struct stat about{};
  if (::fstat(fd, &about) != 0) return false;
  if (S_ISDIR(about.st_mode)) return (about.st_mode & kMark) != 0;
  char text[sizeof kNoRedirection] = {};
  return ::pread(fd, text, sizeof text, 0) == sizeof kNoRedirection - 1 &&
         std::string(text) == kNoRedirection;
}

bool still_there(int parent, const std::string& name, int fd) {
  struct stat held{};
  struct stat named{};
  return ::fstat(fd, &held) == 0 && ::fstatat(parent, name.c_str(), &named, AT_SYMLINK_NOFOLLOW) == 0 &&
         held.st_dev == named.st_dev && held.st_ino == named.st_ino;
}

}  // namespace

base::Result<bool> Placeholders::try_once(const std::string& path) {
  const size_t slash = path.rfind('/');
  const std::string folder = slash == 0 ? "/" : path.substr(0, slash);
  Item item;
  item.name = path.substr(slash + 1);
  item.parent.reset(kernel::open_by_name(AT_FDCWD, folder.c_str(), O_RDONLY | O_DIRECTORY,
                                         RESOLVE_NO_SYMLINKS | RESOLVE_NO_MAGICLINKS));
  if (!item.parent) return base::fail_errno(errno, "cannot protect " + path);
  struct stat about{};
  if (::fstatat(item.parent.get(), item.name.c_str(), &about, AT_SYMLINK_NOFOLLOW) != 0) {
    if (errno != ENOENT) return base::fail_errno(errno, "cannot protect " + path);
    item.ours = is_file_placeholder(path) ? make_file(item.parent.get(), item.name)
                                          : make_folder(item.parent.get(), item.name);
    // Where we cannot make it, nobody inside can.
    if (!item.ours && (errno == EACCES || errno == EROFS)) return true;
    if (!item.ours && errno != EEXIST)
      return base::fail_errno(errno, "cannot protect " + path + ", which does not exist");
  } else if (S_ISLNK(about.st_mode)) {
    return base::fail(base::ErrorCode::Unsupported,
                      path +
                          " is a symbolic link, and only files and folders can be protected. Replace it by "
                          "what it points to, or list it under sandbox.unprotected in your configuration");
  } else if (!S_ISDIR(about.st_mode) && !is_file_placeholder(path)) {
    return true;  // an ordinary file is never a placeholder
  }
  item.lock.reset(
      ::openat(item.parent.get(), item.name.c_str(), O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC));
  if (!item.lock) {
    if (errno == EACCES) return true;  // a folder we cannot read is nobody's placeholder
    if (errno == ENOENT) return false;
    return base::fail_errno(errno, "cannot protect " + path);
  }
  item.ours = item.ours || is_marked(item.lock.get());
  if (!item.ours) return true;  // what is no placeholder is never removed
  // Whoever removes it has it locked for a moment. A command inside could lock it for good, so nobody waits.
  if (::flock(item.lock.get(), LOCK_SH | LOCK_NB) != 0) return false;
  if (!still_there(item.parent.get(), item.name, item.lock.get())) return false;
  items_.push_back(std::move(item));
  paths_.push_back(path);
  return true;
}

base::Result<void> Placeholders::ensure(const std::string& path) {
  for (int i = 0; i < kTries; ++i) {
    auto done = try_once(path);
    if (!done) return tl::unexpected(done.error());
    if (*done) return {};
    std::this_thread::sleep_for(std::chrono::microseconds(100 * i));
  }
  // Somebody keeps it locked, so nobody removes it.
  struct stat about{};
  if (::lstat(path.c_str(), &about) == 0 && !S_ISLNK(about.st_mode)) return {};
  return base::fail(base::ErrorCode::Unavailable, path + " cannot be protected: it appears and disappears");
}

void Placeholders::remove_one(const Item& item) {
  if (!item.ours || ::flock(item.lock.get(), LOCK_EX | LOCK_NB) != 0) return;  // another one uses it
  if (!still_there(item.parent.get(), item.name, item.lock.get())) return;
  struct stat about{};
  const bool folder = ::fstat(item.lock.get(), &about) == 0 && S_ISDIR(about.st_mode);
  // It fails if somebody outside has put something into it: then it is theirs.
  ::unlinkat(item.parent.get(), item.name.c_str(), folder ? AT_REMOVEDIR : 0);
}

void Placeholders::remove() {
  for (const Item& item : std::exchange(items_, {})) remove_one(item);
}

void Placeholders::remove_left_behind(const std::string& path) {
  const size_t slash = path.rfind('/');
  Item item;
  item.name = path.substr(slash + 1);
  item.parent.reset(kernel::open_by_name(AT_FDCWD, path.substr(0, slash).c_str(), O_RDONLY | O_DIRECTORY,
                                         RESOLVE_NO_SYMLINKS | RESOLVE_NO_MAGICLINKS));
  if (!item.parent) return;
  const int kind = is_file_placeholder(path) ? 0 : O_DIRECTORY;
  item.lock.reset(
      ::openat(item.parent.get(), item.name.c_str(), O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC | kind));
  if (!item.lock) return;
  item.ours = is_marked(item.lock.get());
  remove_one(item);
}

}  // namespace ttyward::sandbox
