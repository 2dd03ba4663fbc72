#include "changes/tree.h"

#include <dirent.h>
#include <fcntl.h>
#include <linux/fs.h>
#include <linux/openat2.h>
#include <sys/ioctl.h>
#include <sys/syscall.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <climits>
#include <cstring>
#include <memory>
#include <utility>

#include "base/file_io.h"
#include "base/ids.h"

namespace ttyward::changes {

using base::ErrorCode;
using base::fail;
using base::fail_errno;
using base::Result;
using base::UniqueFd;

namespace {

constexpr size_t kCopyBytes = size_t{1} << 20;
// How deep a removal descends before it moves what is below to the top.
constexpr int kDeepest = 64;
constexpr mode_t kOrdinaryBits = 0777;

struct CloseDir {
  void operator()(DIR* dir) const { ::closedir(dir); }
};
using Dir = std::unique_ptr<DIR, CloseDir>;

bool gone(int error) {
  return error == ENOENT || error == ENOTDIR || error == ELOOP || error == EXDEV;
}

Result<Dir> read_dir(int folder, const std::string& shown) {
  UniqueFd again(::openat(folder, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (!again) return fail_errno(errno, "cannot read the folder " + shown);
  Dir dir(::fdopendir(again.get()));
  if (!dir) return fail_errno(errno, "cannot read the folder " + shown);
  static_cast<void>(again.release());
  return dir;
}

Result<std::vector<std::string>> names_of(int folder, const std::string& shown) {
  auto dir = read_dir(folder, shown);
  if (!dir) return tl::unexpected(dir.error());
  std::vector<std::string> names;
  for (;;) {
    errno = 0;
    const dirent* entry = ::readdir(dir->get());
    if (entry == nullptr) break;
    const std::string_view name = entry->d_name;
    if (name != "." && name != "..") names.emplace_back(name);
  }
  if (errno != 0) return fail_errno(errno, "cannot read the folder " + shown);
  std::sort(names.begin(), names.end());
  return names;
}

void set_times(int folder, const char* name, const Node& node, int flags) {
  const timespec modified{node.modified_ns / 1'000'000'000, node.modified_ns % 1'000'000'000};
  const timespec times[2] = {modified, modified};
  static_cast<void>(::utimensat(folder, name, times, flags));
}

// Where we may give files away, a copy belongs to whom the original belongs.
Result<void> keep_owner(int fd, const Node& node, const std::string& shown) {
  if (::geteuid() != 0) return {};
  if (::fchown(fd, node.user, node.group) != 0) return fail_errno(errno, "cannot set the owner of " + shown);
  return {};
}

Result<void> copy_file(int from_folder, const std::string& from_name, const Node& node, int to_folder,
                       const std::string& to_name) {
  auto from = open_file(from_folder, from_name);
  if (!from) return tl::unexpected(from.error());
  const UniqueFd to(
      ::openat(to_folder, to_name.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600));
  if (!to) return fail_errno(errno, "cannot create a copy of " + from_name);
  const auto drop = [&](tl::unexpected<base::Error> error) {
    ::unlinkat(to_folder, to_name.c_str(), 0);
    return error;
  };
  if (auto copied = copy_bytes(from->get(), to.get(), from_name); !copied)
    return drop(tl::unexpected(copied.error()));
  if (auto kept = keep_owner(to.get(), node, from_name); !kept) return drop(tl::unexpected(kept.error()));
  if (::fchmod(to.get(), node.mode & kOrdinaryBits) != 0)
    return drop(fail_errno(errno, "cannot set the permissions of a copy of " + from_name));
  set_times(to_folder, to_name.c_str(), node, AT_SYMLINK_NOFOLLOW);
  return {};
}

Result<void> copy_link(int from_folder, const std::string& from_name, const Node& node, int to_folder,
                       const std::string& to_name) {
  auto target = link_target(from_folder, from_name);
  if (!target) return tl::unexpected(target.error());
  if (::symlinkat(target->c_str(), to_folder, to_name.c_str()) != 0)
    return fail_errno(errno, "cannot create a copy of the link " + from_name);
  if (::geteuid() == 0) {
    if (::fchownat(to_folder, to_name.c_str(), node.user, node.group, AT_SYMLINK_NOFOLLOW) != 0)
      return fail_errno(errno, "cannot set the owner of the link " + from_name);
  }
  set_times(to_folder, to_name.c_str(), node, AT_SYMLINK_NOFOLLOW);
  return {};
}

// A folder that its owner has closed to themselves is opened to them: it is about to go.
UniqueFd open_to_remove(int folder, const char* name) {
  constexpr int kFlags = O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC;
  UniqueFd opened(::openat(folder, name, kFlags));
  if (opened || errno != EACCES) {
    struct stat info{};
    if (opened && ::geteuid() != 0 && ::fstat(opened.get(), &info) == 0 && (info.st_mode & 0700) != 0700)
      ::fchmod(opened.get(), 0700);
    return opened;
  }
  struct stat info{};
  if (::fstatat(folder, name, &info, AT_SYMLINK_NOFOLLOW) != 0 || !S_ISDIR(info.st_mode)) return opened;
  if (::fchmodat(folder, name, 0700, 0) != 0) return opened;
  opened.reset(::openat(folder, name, kFlags));
  return opened;
}

class Remover {
 public:
  explicit Remover(int top) : top_(top) {}

  Result<void> remove(const std::string& name) {
    moved_.push_back(name);
    while (!moved_.empty()) {
      const std::string next = std::move(moved_.back());
      moved_.pop_back();
      if (auto removed = remove_at(top_, next, 0); !removed) return removed;
    }
    return {};
  }

 private:
  Result<void> remove_at(int folder, const std::string& name, int depth) {
    if (::unlinkat(folder, name.c_str(), 0) == 0 || errno == ENOENT) return {};
    if (errno != EISDIR && errno != EPERM && errno != EACCES)
      return fail_errno(errno, "cannot remove " + name);
    // An empty folder goes at once, whatever its permissions are.
    if (::unlinkat(folder, name.c_str(), AT_REMOVEDIR) == 0) return {};
    if (errno != ENOTEMPTY && errno != EEXIST) return fail_errno(errno, "cannot remove " + name);
    if (depth >= kDeepest) {
      // Paths can be deeper than descriptors last: what is below goes to the top, and is removed from there.
      const std::string other = base::random_nonce();
      if (::renameat(folder, name.c_str(), top_, other.c_str()) != 0)
        return fail_errno(errno, "cannot remove " + name);
      moved_.push_back(other);
      return {};
    }
    const UniqueFd opened = open_to_remove(folder, name.c_str());
    if (!opened) return fail_errno(errno, "cannot remove the folder " + name);
    auto names = names_of(opened.get(), name);
    if (!names) return tl::unexpected(names.error());
    for (const std::string& each : *names) {
      if (auto removed = remove_at(opened.get(), each, depth + 1); !removed) return removed;
    }
    if (::unlinkat(folder, name.c_str(), AT_REMOVEDIR) != 0 && errno != ENOENT)
      return fail_errno(errno, "cannot remove the folder " + name);
    return {};
  }

  int top_;
  std::vector<std::string> moved_;
};

}  // namespace

Result<UniqueFd> open_beneath(int root, const std::string& path, int flags) {
  open_how how{};
  how.flags = static_cast<uint64_t>(flags) | O_CLOEXEC | O_NOFOLLOW;
  how.resolve = RESOLVE_BENEATH | RESOLVE_NO_SYMLINKS | RESOLVE_NO_MAGICLINKS | RESOLVE_NO_XDEV;
  const char* name = path.empty() ? "." : path.c_str();
  UniqueFd opened(static_cast<int>(::syscall(SYS_openat2, root, name, &how, sizeof how)));
  if (!opened) return fail_errno(errno, "cannot open " + (path.empty() ? "the folder" : path));
  return opened;
}

Result<UniqueFd> open_file(int root, const std::string& path) {
  auto opened = open_beneath(root, path, O_RDONLY | O_NONBLOCK | O_NOCTTY);
  if (!opened) return opened;
  struct stat info{};
  if (::fstat(opened->get(), &info) != 0) return fail_errno(errno, "cannot look at " + path);
  if (!S_ISREG(info.st_mode)) return fail(ErrorCode::InvalidArgument, path + " is not a regular file");
  return opened;
}

Result<Spot> spot_of(int root, const std::string& path) {
  const size_t slash = path.rfind('/');
  const std::string folder = slash == std::string::npos ? "" : path.substr(0, slash);
  auto opened = open_beneath(root, folder, O_PATH | O_DIRECTORY);
  if (!opened) return tl::unexpected(opened.error());
  return Spot{std::move(*opened), slash == std::string::npos ? path : path.substr(slash + 1)};
}

Result<Node> look_at(int folder, const std::string& name, const std::string& shown) {
  struct stat info{};
  if (::fstatat(folder, name.c_str(), &info, AT_SYMLINK_NOFOLLOW) != 0) {
    if (gone(errno)) return Node{};
    return fail_errno(errno, "cannot look at " + shown);
  }
  return node_of(info);
}

Result<Node> look(int root, const std::string& path) {
  auto spot = spot_of(root, path);
  if (!spot) {
    if (gone(spot.error().sys_errno)) return Node{};
    return tl::unexpected(spot.error());
  }
  return look_at(spot->folder.get(), spot->name, path);
}

Result<std::vector<Named>> entries_of(int folder, const std::string& path) {
  auto names = names_of(folder, path);
  if (!names) return tl::unexpected(names.error());
  std::vector<Named> found;
  found.reserve(names->size());
  for (std::string& name : *names) {
    struct stat info{};
    if (::fstatat(folder, name.c_str(), &info, AT_SYMLINK_NOFOLLOW) != 0) continue;  // gone meanwhile
    found.push_back({std::move(name), node_of(info), S_ISCHR(info.st_mode) && info.st_rdev == makedev(0, 0)});
  }
  return found;
}

Result<std::string> link_target(int folder, const std::string& name) {
  std::string target(PATH_MAX, '\0');
  const ssize_t length = ::readlinkat(folder, name.c_str(), target.data(), target.size());
  if (length < 0) return fail_errno(errno, "cannot read the link " + name);
  target.resize(static_cast<size_t>(length));
  return target;
}

Result<std::optional<std::string>> content(int fd, uint64_t most, const std::string& shown) {
  struct stat info{};
  if (::fstat(fd, &info) != 0) return fail_errno(errno, "cannot look at " + shown);
  if (static_cast<uint64_t>(info.st_size) > most) return std::nullopt;
  std::string text(static_cast<size_t>(info.st_size), '\0');
  auto read = base::read_at(fd, text.data(), text.size(), 0, shown);
  if (!read) return tl::unexpected(read.error());
  text.resize(*read);
  return text;
}

Result<void> copy_bytes(int from, int to, const std::string& shown) {
  if (::ioctl(to, FICLONE, from) == 0) return {};
  for (;;) {
    const ssize_t moved = ::copy_file_range(from, nullptr, to, nullptr, size_t{1} << 30, 0);
    if (moved == 0) return {};
    if (moved > 0 || errno == EINTR) continue;
    if (errno != EXDEV && errno != EINVAL && errno != EOPNOTSUPP && errno != ENOSYS)
      return fail_errno(errno, "cannot copy " + shown);
    break;
  }
  const auto buffer = std::make_unique<char[]>(kCopyBytes);
  auto offset = static_cast<uint64_t>(::lseek(to, 0, SEEK_CUR));
  for (;;) {
    auto read = base::read_at(from, buffer.get(), kCopyBytes, offset, shown);
    if (!read) return tl::unexpected(read.error());
    if (*read == 0) return {};
    if (auto written = base::write_at(to, buffer.get(), *read, offset, shown); !written) return written;
    offset += *read;
  }
}

namespace {

// Folders of a tree that is being copied, each open on both sides. At most kDeepest at once: a tree that is
// deeper cannot be copied.
Result<void> copy_at(int from_folder, const std::string& from_name, int to_folder, const std::string& to_name,
                     int depth) {
  auto node = look_at(from_folder, from_name, from_name);
  if (!node) return tl::unexpected(node.error());
  if (node->type == NodeType::File) return copy_file(from_folder, from_name, *node, to_folder, to_name);
  if (node->type == NodeType::Link) return copy_link(from_folder, from_name, *node, to_folder, to_name);
  if (node->type != NodeType::Folder) return {};
  if (depth >= kDeepest)
    return fail(ErrorCode::Exhausted, "cannot copy " + from_name + ": its folders are nested too deeply");
  auto from = open_beneath(from_folder, from_name, O_RDONLY | O_DIRECTORY);
  if (!from) return tl::unexpected(from.error());
  if (::mkdirat(to_folder, to_name.c_str(), 0700) != 0)
    return fail_errno(errno, "cannot create a copy of the folder " + from_name);
  auto to = open_beneath(to_folder, to_name, O_RDONLY | O_DIRECTORY);
  if (!to) return tl::unexpected(to.error());
  auto names = names_of(from->get(), from_name);
  if (!names) return tl::unexpected(names.error());
  for (const std::string& name : *names) {
    if (auto copied = copy_at(from->get(), name, to->get(), name, depth + 1); !copied) return copied;
  }
  if (auto kept = keep_owner(to->get(), *node, from_name); !kept) return kept;
  if (::fchmod(to->get(), node->mode & kOrdinaryBits) != 0)
    return fail_errno(errno, "cannot set the permissions of a copy of " + from_name);
  set_times(to_folder, to_name.c_str(), *node, AT_SYMLINK_NOFOLLOW);
  return {};
}

}  // namespace

Result<void> copy_node(int from_folder, const std::string& from_name, int to_folder,
                       const std::string& to_name) {
  return copy_at(from_folder, from_name, to_folder, to_name, 0);
}

Result<void> remove_node(int folder, const std::string& name) {
  return Remover(folder).remove(name);
}

uint64_t disk_usage(int folder, const std::string& path) {
  uint64_t bytes = 0;
  std::vector<std::string> open = {path};
  while (!open.empty()) {
    const std::string next = std::move(open.back());
    open.pop_back();
    auto opened = open_beneath(folder, next, O_RDONLY | O_DIRECTORY);
    if (!opened) continue;
    auto names = names_of(opened->get(), next);
    if (!names) continue;
    for (const std::string& name : *names) {
      struct stat info{};
      if (::fstatat(opened->get(), name.c_str(), &info, AT_SYMLINK_NOFOLLOW) != 0) continue;
      bytes += static_cast<uint64_t>(info.st_blocks) * 512;
      if (S_ISDIR(info.st_mode)) open.push_back(next + "/" + name);
    }
  }
  return bytes;
}

Result<void> write_atomically(int folder, const std::string& name, std::string_view text, Durable durable) {
  const std::string other = name + "." + base::random_nonce();
  const UniqueFd file(
      ::openat(folder, other.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600));
  if (!file) return fail_errno(errno, "cannot create " + name);
  auto written = base::write_at(file.get(), text.data(), text.size(), 0, name);
  if (written && durable == Durable::Now && ::fdatasync(file.get()) != 0)
    written = fail_errno(errno, "cannot write " + name);
  if (written && ::renameat(folder, other.c_str(), folder, name.c_str()) != 0)
    written = fail_errno(errno, "cannot write " + name);
  if (!written) ::unlinkat(folder, other.c_str(), 0);
  return written;
}

Result<std::string> read_small(int folder, const std::string& name, uint64_t most) {
  auto file = open_file(folder, name);
  if (!file) return tl::unexpected(file.error());
  auto text = content(file->get(), most, name);
  if (!text) return tl::unexpected(text.error());
  if (!*text) return fail(ErrorCode::Corrupt, name + " is larger than it can be");
  return std::move(**text);
}

}  // namespace ttyward::changes
