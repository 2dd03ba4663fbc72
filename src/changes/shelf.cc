#include "changes/shelf.h"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/statfs.h>
#include <sys/xattr.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <climits>
#include <cstdlib>
#include <utility>

#include "base/ids.h"
#include "base/private_folder.h"
#include "base/unix_time.h"
#include "changes/tree.h"

namespace ttyward::changes {

using base::ErrorCode;
using base::fail;
using base::fail_errno;
using base::Result;
using base::UniqueFd;

namespace {

constexpr long kOverlayMagic = 0x794c7630;
constexpr char kProbe[] = "user.ttyward";

bool is_in(const std::string& path, const std::string& folder) {
  return path == folder || folder == "/" || path.starts_with(folder + "/");
}

// Why layers cannot be kept in this folder; empty: they can.
std::string wrong_with(int folder, const std::string& path, const std::string& workspace) {
  char real[PATH_MAX];
  if (::realpath(path.c_str(), real) == nullptr) return path + " cannot be reached";
  if (is_in(real, workspace)) return path + " is inside the workspace";
  if (is_in(workspace, real)) return "the workspace is inside " + path;
  struct statfs info{};
  if (::fstatfs(folder, &info) != 0) return path + " cannot be reached";
  if (info.f_type == kOverlayMagic) return path + " is itself on an overlay";
  if (::fsetxattr(folder, kProbe, "1", 1, 0) != 0)
    return path + " is on a file system without user attributes";
  ::fremovexattr(folder, kProbe);
  return {};
}

// Only the layer's owner can be given the layer. Its folder above stays ours.
Result<void> make_layer_folder(int folder, const char* name,
                               const std::optional<std::pair<uid_t, gid_t>>& owner) {
  if (::mkdirat(folder, name, 0700) != 0)
    return fail_errno(errno, std::string("cannot make the folder ") + name);
  if (!owner || ::geteuid() != 0) return {};
  if (::fchownat(folder, name, owner->first, owner->second, AT_SYMLINK_NOFOLLOW) != 0)
    return fail_errno(errno, std::string("cannot set the owner of ") + name);
  return {};
}

}  // namespace

Shelf::Shelf(const base::Folders& folders) : roots_({folders.state + "/changes"}) {
  if (!folders.runtime.empty()) roots_.push_back(folders.runtime + "/changes");
}

std::string Shelf::path_of(const std::string& id) const {
  if (!base::is_id(id, 'c')) return {};
  for (const std::string& root : roots_) {
    struct stat info{};
    const std::string path = root + "/" + id;
    if (::lstat(path.c_str(), &info) == 0 && S_ISDIR(info.st_mode)) return path;
  }
  return {};
}

bool Shelf::has(const std::string& id) const {
  return !path_of(id).empty();
}

Result<PreparedSet> Shelf::prepare(const NewSet& wanted) const {
  if (!base::is_id(wanted.id, 'c'))
    return fail(ErrorCode::InvalidArgument, "a change set needs the id of a command");
  char real[PATH_MAX];
  if (::realpath(wanted.workspace.c_str(), real) == nullptr)
    return fail_errno(errno, "cannot find the workspace " + wanted.workspace);
  struct stat workspace{};
  if (::stat(real, &workspace) != 0) return fail_errno(errno, "cannot look at the workspace");
  if (!S_ISDIR(workspace.st_mode))
    return fail(ErrorCode::InvalidArgument, "the workspace " + wanted.workspace + " is not a folder");

  std::string why;
  std::string root;
  UniqueFd shelf;
  for (const std::string& each : roots_) {
    auto opened = base::open_private_folder(each, base::IfMissing::Create);
    std::string wrong = opened ? wrong_with(opened->get(), each, real) : opened.error().message;
    if (wrong.empty()) {
      root = each;
      shelf = std::move(*opened);
      break;
    }
    why += (why.empty() ? "" : "; ") + wrong;
  }
  if (!shelf) {
    return fail(ErrorCode::Unsupported, "a command cannot be tried in " + std::string(real) +
                                            ": there is no place for its changes (" + why +
                                            "). Set TTYWARD_HOME to a folder on another file system");
  }
  if (::mkdirat(shelf.get(), wanted.id.c_str(), 0700) != 0)
    return fail_errno(errno, "cannot make a place for the changes of " + wanted.id);
  auto folder = open_beneath(shelf.get(), wanted.id, O_RDONLY | O_DIRECTORY);
  if (!folder) return tl::unexpected(folder.error());
  const auto give_up = [&](const base::Error& error) -> Result<PreparedSet> {
    static_cast<void>(remove_node(shelf.get(), wanted.id));
    return tl::unexpected(error);
  };
  UniqueFd lock(::openat(folder->get(), "lock", O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600));
  if (!lock || ::flock(lock.get(), LOCK_EX | LOCK_NB) != 0)
    return give_up(fail_errno(errno, "cannot lock the change set").value());
  for (const char* name : {"upper", "work"}) {
    if (auto made = make_layer_folder(folder->get(), name, wanted.owner); !made) return give_up(made.error());
  }
  // The merged folder shows the mode of the layer's.
  auto upper = open_beneath(folder->get(), "upper", O_RDONLY | O_DIRECTORY);
  if (!upper) return give_up(upper.error());
  if (::fchmod(upper->get(), workspace.st_mode & 0777) != 0)
    return give_up(fail_errno(errno, "cannot set the permissions of the layer").value());
  struct stat made{};
  if (::fstat(upper->get(), &made) != 0)
    return give_up(fail_errno(errno, "cannot look at the layer").value());

  Info info;
  info.id = wanted.id;
  info.workspace = real;
  info.device = workspace.st_dev;
  info.inode = workspace.st_ino;
  info.command = wanted.command;
  info.session = wanted.session;
  info.purpose = wanted.purpose;
  info.protected_paths = wanted.protected_paths;
  info.began_ns = nanoseconds(made.st_ctim);
  info.created_ms = base::unix_ms();
  // Without links: whoever mounts it follows none.
  if (::realpath(root.c_str(), real) != nullptr) root = real;
  const std::string path = root + "/" + wanted.id;
  ChangeSet set(path, std::move(*folder), std::move(lock), std::move(info));
  if (auto written = set.write_info(); !written) return give_up(written.error());
  return PreparedSet{std::move(set), path + "/upper", path + "/work"};
}

Result<ChangeSet> Shelf::open(const std::string& id, ChangeSet::Access access) const {
  const std::string path = path_of(id);
  if (path.empty()) {
    return fail(ErrorCode::NotFound,
                "there is no change set " + id +
                    ": it was discarded, is too old, or never was. ttyward changes lists them");
  }
  return ChangeSet::open(path, access);
}

std::vector<Info> Shelf::list() const {
  std::vector<Info> found;
  for (const std::string& root : roots_) {
    auto folder = base::open_private_folder(root, base::IfMissing::Fail);
    if (!folder) continue;
    auto entries = entries_of(folder->get(), root);
    if (!entries) continue;
    for (const Named& named : *entries) {
      if (named.node.type != NodeType::Folder || !base::is_id(named.name, 'c')) continue;
      auto set = ChangeSet::open(root + "/" + named.name, ChangeSet::Access::Read);
      if (!set) continue;
      found.push_back(set->info());
      found.back().state = set->state();
    }
  }
  std::sort(found.begin(), found.end(),
            [](const Info& a, const Info& b) { return a.created_ms > b.created_ms; });
  return found;
}

// What a discard that was cut short has left.
void Shelf::remove_leftovers() const {
  for (const std::string& root : roots_) {
    auto folder = base::open_private_folder(root, base::IfMissing::Fail);
    auto entries =
        folder ? entries_of(folder->get(), root) : base::Result<std::vector<Named>>(std::vector<Named>());
    if (!entries) continue;
    for (const Named& named : *entries) {
      if (named.name.starts_with(ChangeSet::kDiscarded))
        static_cast<void>(remove_node(folder->get(), named.name));
    }
  }
}

std::optional<Info> Shelf::last_applied(const std::string& folder) const {
  char real[PATH_MAX];
  if (::realpath(folder.c_str(), real) == nullptr) return std::nullopt;
  std::optional<Info> last;
  for (Info& info : list()) {
    if (info.applied_ms == 0 || info.state == State::Undone || !is_in(real, info.workspace)) continue;
    if (!last || info.applied_ms > last->applied_ms) last = std::move(info);
  }
  return last;
}

std::vector<Info> Shelf::sweep(const Keeping& keeping, int64_t now_ms) const {
  remove_leftovers();
  std::vector<Info> removed;
  std::vector<Info> all = list();
  uint64_t total = 0;
  for (const Info& info : all) total += info.bytes;
  for (auto info = all.rbegin(); info != all.rend(); ++info) {
    const bool old = keeping.age_ms > 0 && now_ms - info->created_ms > keeping.age_ms;
    if (!old && total <= keeping.quota) continue;
    auto set = open(info->id, ChangeSet::Access::Exclusive);
    if (!set) continue;
    if (auto gone = std::move(*set).discard(); !gone) continue;
    total -= std::min(total, info->bytes);
    removed.push_back(std::move(*info));
  }
  return removed;
}

}  // namespace ttyward::changes
