#include "changes/staging.h"

#include <fcntl.h>
#include <linux/fs.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <set>

#include "changes/scan.h"
#include "changes/tree.h"

namespace ttyward::changes {

using base::ErrorCode;
using base::fail;
using base::fail_errno;
using base::Result;
using base::UniqueFd;

namespace {

constexpr uint64_t kLargestHashed = uint64_t{4} << 20;

bool same_state(const Node& a, const Node& b) {
  return a.type == b.type && a.inode == b.inode && a.size == b.size && a.mode == b.mode &&
         a.modified_ns == b.modified_ns && a.changed_ns == b.changed_ns;
}

std::string new_name(size_t number) {
  return "new" + std::to_string(number);
}
std::string old_name(int64_t saved) {
  return "old" + std::to_string(saved);
}

std::string parent_of(const std::string& path) {
  const size_t slash = path.rfind('/');
  return slash == std::string::npos ? "" : path.substr(0, slash);
}

// Why the entry must not be applied; empty: it may.
std::string conflict_of(int workspace, const Entry& entry, const Node& now) {
  const Node& before = entry.before;
  if (!before.exists()) {
    const bool both_folders = now.type == NodeType::Folder && entry.after.type == NodeType::Folder;
    return now.exists() && !both_folders ? "it was created in the workspace meanwhile" : "";
  }
  if (!now.exists()) return entry.kind == Kind::Deleted ? "" : "it was removed from the workspace meanwhile";
  if (now.type != before.type) return "it is something else in the workspace now";
  if (before.type == NodeType::Folder && entry.after.type == NodeType::Folder)
    return now.mode == before.mode ? "" : "its permissions were changed meanwhile";
  if (entry.stale) return "it changed in the workspace while the command ran";
  if (before.type != NodeType::Folder && same_state(now, before)) return "";
  const bool same = !entry.before_hash.empty() && now.mode == before.mode &&
                    fingerprint(workspace, entry.path, now, kLargestHashed) == entry.before_hash;
  return same ? "" : "it changed in the workspace since the command ran";
}

// Whether the file or link has the content that the command gave it: another undo may have brought it back.
bool same_as_layer(int workspace, int set, const Entry& entry, const Node& now) {
  const std::string path = "upper/" + entry.path;
  const auto upper = look(set, path);
  if (!upper || upper->type != now.type || now.mode != entry.after.mode) return false;
  const std::string hash = fingerprint(workspace, entry.path, now, kLargestHashed);
  return !hash.empty() && hash == fingerprint(set, path, *upper, kLargestHashed);
}

// The entry as it is if what stands in the workspace now is what it replaces.
void rebase(Entry& entry, const Node& now) {
  entry.before = now;
  entry.stale = false;
  entry.before_hash.clear();
  if (entry.kind != Kind::Deleted) entry.kind = now.exists() ? Kind::Changed : Kind::Added;
}

}  // namespace

std::vector<Refused> settle_conflicts(int workspace, std::vector<Entry>& entries, bool over) {
  std::vector<Refused> found;
  std::set<std::string> made;  // folders that are made before what is in them
  for (Entry& entry : entries) {
    const std::string parent = parent_of(entry.path);
    if (!made.contains(parent)) {
      if (auto spot = spot_of(workspace, entry.path); !spot) {
        found.push_back({entry.path, "the folder it is in is gone, or is not a folder any more"});
        continue;
      }
    }
    auto now = look(workspace, entry.path);
    std::string why = now ? conflict_of(workspace, entry, *now) : now.error().message;
    if (!why.empty() && over && now) {
      rebase(entry, *now);
      why.clear();
    }
    // A folder that both have made is not ours to remove later.
    if (why.empty() && !entry.before.exists() && now && now->exists()) rebase(entry, *now);
    if (!why.empty()) found.push_back({entry.path, std::move(why)});
    if (entry.kind != Kind::Deleted && entry.after.type == NodeType::Folder) made.insert(entry.path);
  }
  std::erase_if(entries, [&](const Entry& entry) {
    return entry.kind == Kind::Deleted && !look(workspace, entry.path).value_or(entry.before).exists();
  });
  return found;
}

std::vector<Refused> later_changes(int workspace, int set, const std::vector<AppliedEntry>& entries) {
  std::vector<Refused> found;
  std::set<std::string> ours;
  for (const AppliedEntry& each : entries) ours.insert(each.entry.path);
  for (const AppliedEntry& each : entries) {
    const Entry& entry = each.entry;
    auto now = look(workspace, entry.path);
    if (!now) {
      found.push_back({entry.path, now.error().message});
    } else if (now->type != entry.after.type) {
      found.push_back(
          {entry.path, now->exists() ? "it was made, or replaced, since" : "it was removed since"});
    } else if (now->type == NodeType::Folder) {
      // Whatever stands in a folder that would go has to be ours.
      if (entry.kind != Kind::Added && entry.before.type == NodeType::Folder) continue;
      auto opened = open_beneath(workspace, entry.path, O_RDONLY | O_DIRECTORY);
      auto inside =
          opened ? entries_of(opened->get(), entry.path) : Result<std::vector<Named>>(std::vector<Named>());
      if (!inside) continue;
      for (const Named& named : *inside) {
        const std::string path = entry.path + "/" + named.name;
        if (!ours.contains(path)) found.push_back({path, "it was made since, in a folder that would go"});
      }
    } else if (now->exists() && !same_state(*now, entry.after) &&
               !same_as_layer(workspace, set, entry, *now)) {
      found.push_back({entry.path, "it changed since"});
    }
  }
  return found;
}

Result<Staging> Staging::begin(int workspace, int set, const std::string& id) {
  const std::string name = ".ttyward-apply-" + id;
  if (auto removed = remove_node(workspace, name); !removed) return tl::unexpected(removed.error());
  return resume(workspace, set, id);
}

Result<Staging> Staging::resume(int workspace, int set, const std::string& id) {
  std::string name = ".ttyward-apply-" + id;
  if (::mkdirat(workspace, name.c_str(), 0700) != 0 && errno != EEXIST)
    return fail_errno(errno, "cannot make a folder in the workspace");
  auto folder = open_beneath(workspace, name, O_RDONLY | O_DIRECTORY);
  if (!folder) return tl::unexpected(folder.error());
  struct stat info{};
  if (::fstat(folder->get(), &info) != 0 || info.st_uid != ::geteuid() || (info.st_mode & 077) != 0)
    return fail(ErrorCode::PermissionDenied, name + " in the workspace belongs to somebody else; remove it");
  if (::mkdirat(set, "before", 0700) != 0 && errno != EEXIST)
    return fail_errno(errno, "cannot make a folder in the change set");
  return Staging(workspace, set, std::move(name), std::move(*folder));
}

Staging::Staging(Staging&& other) noexcept
    : workspace_(other.workspace_),
      set_(other.set_),
      name_(std::move(other.name_)),
      folder_(std::move(other.folder_)),
      needed_(other.needed_) {}

Staging::~Staging() {
  if (folder_ && !needed_) static_cast<void>(remove_node(workspace_, name_));
}

Result<std::vector<AppliedEntry>> Staging::stage(const std::vector<Entry>& entries,
                                                 const std::vector<AppliedEntry>& done) {
  auto before = open_beneath(set_, "before", O_RDONLY | O_DIRECTORY);
  if (!before) return tl::unexpected(before.error());
  int64_t last = 0;
  for (const AppliedEntry& each : done) last = std::max(last, each.saved);
  std::vector<AppliedEntry> planned;
  planned.reserve(entries.size());
  for (size_t i = 0; i < entries.size(); i++) {
    AppliedEntry each{entries[i], 0, false};
    const Entry& entry = each.entry;
    if (entry.kind != Kind::Deleted && entry.after.type != NodeType::Folder) {
      auto spot = spot_of(set_, "upper/" + entry.path);
      if (!spot) return tl::unexpected(spot.error());
      auto copied = copy_node(spot->folder.get(), spot->name, folder_.get(), new_name(i));
      if (!copied) return tl::unexpected(copied.error());
    }
    const bool permissions_only =
        entry.before.type == NodeType::Folder && entry.after.type == NodeType::Folder;
    if (entry.before.exists() && !permissions_only) {
      each.saved = ++last;
      const std::string name = std::to_string(each.saved);
      if (auto removed = remove_node(before->get(), name); !removed) return tl::unexpected(removed.error());
      if (entry.before.type != NodeType::Folder) {  // a folder is moved, not copied
        auto spot = spot_of(workspace_, entry.path);
        if (!spot) return tl::unexpected(spot.error());
        auto copied = copy_node(spot->folder.get(), spot->name, before->get(), name);
        if (!copied) return tl::unexpected(copied.error());
      }
    }
    planned.push_back(std::move(each));
  }
  return planned;
}

// A folder goes from the workspace in one step.
Result<void> Staging::move_away(const Spot& spot, int64_t saved) {
  if (::renameat(spot.folder.get(), spot.name.c_str(), folder_.get(), old_name(saved).c_str()) != 0)
    return fail_errno(errno, "cannot move " + spot.name + " away");
  return {};
}

Result<void> Staging::put(AppliedEntry& each, size_t number) {
  Entry& entry = each.entry;
  auto spot = spot_of(workspace_, entry.path);
  if (!spot) return tl::unexpected(spot.error());
  const int folder = spot->folder.get();
  const char* name = spot->name.c_str();
  auto now = look_at(folder, spot->name, entry.path);
  if (!now) return tl::unexpected(now.error());
  const bool both_folders = now->type == NodeType::Folder && entry.after.type == NodeType::Folder;
  // Once more, right before: the check was a while ago.
  const bool as_seen = now->type == entry.before.type &&
                       (now->type == NodeType::Folder || !now->exists() || same_state(*now, entry.before) ||
                        (!entry.before_hash.empty() &&
                         fingerprint(workspace_, entry.path, *now, kLargestHashed) == entry.before_hash));
  if (!both_folders && !as_seen)
    return fail(ErrorCode::Unavailable,
                entry.path + " changed while the changes were applied; nothing was applied. Try again");

  if (now->type == NodeType::Folder && !both_folders) {
    if (auto moved = move_away(*spot, each.saved); !moved) return moved;
  } else if (now->exists() && (entry.kind == Kind::Deleted || entry.after.type == NodeType::Folder) &&
             !both_folders) {
    if (::unlinkat(folder, name, 0) != 0) return fail_errno(errno, "cannot remove " + entry.path);
  }
  if (entry.kind == Kind::Deleted) return {};
  if (entry.after.type == NodeType::Folder) {
    if (!both_folders && ::mkdirat(folder, name, 0700) != 0)
      return fail_errno(errno, "cannot make the folder " + entry.path);
    return {};
  }
  const unsigned flags = now->exists() && now->type != NodeType::Folder ? 0 : RENAME_NOREPLACE;
  if (::renameat2(folder_.get(), new_name(number).c_str(), folder, name, flags) != 0)
    return fail_errno(errno, "cannot put " + entry.path + " into place");
  return {};
}

Result<void> Staging::commit(std::vector<AppliedEntry>& entries) {
  needed_ = true;
  for (size_t i = 0; i < entries.size(); i++) {
    if (auto placed = put(entries[i], i); !placed) return placed;
  }
  // Permissions of folders come last, the innermost first: they may keep us out.
  for (auto each = entries.rbegin(); each != entries.rend(); ++each) {
    const Entry& entry = each->entry;
    if (entry.kind == Kind::Deleted || entry.after.type != NodeType::Folder) continue;
    auto opened = open_beneath(workspace_, entry.path, O_RDONLY | O_DIRECTORY);
    if (!opened) return tl::unexpected(opened.error());
    if (::geteuid() == 0 && entry.kind != Kind::Changed &&
        ::fchown(opened->get(), entry.after.user, entry.after.group) != 0)
      return fail_errno(errno, "cannot set the owner of " + entry.path);
    if (::fchmod(opened->get(), entry.after.mode & 0777U) != 0)
      return fail_errno(errno, "cannot set the permissions of " + entry.path);
  }
  for (AppliedEntry& each : entries) {
    auto now = look(workspace_, each.entry.path);
    if (!now) return tl::unexpected(now.error());
    each.entry.after = *now;
    each.done = true;
  }
  return save_folders(entries);
}

// Folders that were moved away go to before/, so that they can come back.
Result<void> Staging::save_folders(const std::vector<AppliedEntry>& entries) {
  auto before = open_beneath(set_, "before", O_RDONLY | O_DIRECTORY);
  if (!before) return tl::unexpected(before.error());
  for (const AppliedEntry& each : entries) {
    if (each.saved == 0 || each.entry.before.type != NodeType::Folder) continue;
    const std::string from = old_name(each.saved);
    const std::string to = std::to_string(each.saved);
    if (::renameat(folder_.get(), from.c_str(), before->get(), to.c_str()) == 0) continue;
    if (errno != EXDEV) return fail_errno(errno, "cannot keep the folder " + each.entry.path);
    if (auto copied = copy_node(folder_.get(), from, before->get(), to); !copied) return copied;
  }
  needed_ = false;
  return {};
}

// Whether the workspace has what the entry made: by its state if that was noted, else by its content.
bool Staging::was_applied(const AppliedEntry& each) const {
  if (each.done) return true;
  const Entry& entry = each.entry;
  auto now = look(workspace_, entry.path);
  if (!now || now->type != entry.after.type) return false;
  if (entry.before.exists() && same_state(*now, entry.before)) return false;
  if (now->type == NodeType::Folder || !now->exists()) return true;
  auto upper = look(set_, "upper/" + entry.path);
  if (!upper || upper->size != now->size) return false;
  if (now->size > kLargestHashed) return now->modified_ns == upper->modified_ns;
  return fingerprint(workspace_, entry.path, *now, kLargestHashed) ==
         fingerprint(set_, "upper/" + entry.path, *upper, kLargestHashed);
}

Result<void> Staging::take_one_back(const AppliedEntry& each, size_t number) {
  const Entry& entry = each.entry;
  auto spot = spot_of(workspace_, entry.path);
  if (!spot) return tl::unexpected(spot.error());
  const int folder = spot->folder.get();
  const char* name = spot->name.c_str();
  const bool both_folders = entry.before.type == NodeType::Folder && entry.after.type == NodeType::Folder;
  if (both_folders) {
    auto opened = open_beneath(workspace_, entry.path, O_RDONLY | O_DIRECTORY);
    if (!opened) return tl::unexpected(opened.error());
    if (::fchmod(opened->get(), entry.before.mode) != 0)
      return fail_errno(errno, "cannot set the permissions of " + entry.path);
    return {};
  }
  // What was there is made ready first. A folder is moved at the end, if it can be.
  const std::string ready = "back" + std::to_string(number);
  UniqueFd from;
  std::string from_name = std::to_string(each.saved);
  if (each.saved != 0) {
    const std::string old = old_name(each.saved);
    if (look_at(folder_.get(), old, old).value_or(Node{}).exists()) {
      from.reset(::fcntl(folder_.get(), F_DUPFD_CLOEXEC, 3));
      from_name = old;
    } else {
      auto before = open_beneath(set_, "before", O_RDONLY | O_DIRECTORY);
      if (!before) return tl::unexpected(before.error());
      from = std::move(*before);
    }
    struct stat there{};
    struct stat here{};
    const bool movable = entry.before.type == NodeType::Folder && ::fstat(from.get(), &there) == 0 &&
                         ::fstat(folder, &here) == 0 && there.st_dev == here.st_dev;
    if (!movable) {
      if (auto copied = copy_node(from.get(), from_name, folder_.get(), ready); !copied) return copied;
      from.reset(::fcntl(folder_.get(), F_DUPFD_CLOEXEC, 3));
      from_name = ready;
    }
  }
  auto now = look_at(folder, spot->name, entry.path);
  if (!now) return tl::unexpected(now.error());
  const bool replaces =
      each.saved != 0 && now->type != NodeType::Folder && entry.before.type != NodeType::Folder;
  if (now->type == NodeType::Folder) {
    if (::unlinkat(folder, name, AT_REMOVEDIR) != 0) {
      if (errno != ENOTEMPTY && errno != EEXIST)
        return fail_errno(errno, "cannot remove the folder " + entry.path);
      return {};  // something of somebody else is in it
    }
  } else if (now->exists() && !replaces) {
    if (::unlinkat(folder, name, 0) != 0) return fail_errno(errno, "cannot remove " + entry.path);
  }
  if (each.saved == 0) return {};
  if (::renameat(from.get(), from_name.c_str(), folder, name) != 0)
    return fail_errno(errno, "cannot put " + entry.path + " back");
  return {};
}

Result<void> Staging::take_back(const std::vector<AppliedEntry>& entries) {
  needed_ = true;
  // New folders that are closed even to their owner are opened: they are about to go.
  for (const AppliedEntry& each : entries) {
    if (each.entry.after.type != NodeType::Folder || each.entry.before.type == NodeType::Folder) continue;
    auto opened = open_beneath(workspace_, each.entry.path, O_RDONLY | O_DIRECTORY);
    if (opened && was_applied(each)) ::fchmod(opened->get(), 0700);
  }
  for (size_t i = entries.size(); i-- > 0;) {
    const AppliedEntry& each = entries[i];
    const bool folder_away = each.saved != 0 && each.entry.before.type == NodeType::Folder &&
                             look_at(folder_.get(), old_name(each.saved), "").value_or(Node{}).exists();
    if (!folder_away && !was_applied(each)) continue;
    if (auto back = take_one_back(each, i); !back) return back;
  }
  needed_ = false;
  return {};
}

}  // namespace ttyward::changes
