#include "changes/change_set.h"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <utility>

#include "base/ids.h"
#include "base/private_folder.h"
#include "base/unix_time.h"
#include "changes/diff.h"
#include "changes/scan.h"
#include "changes/staging.h"
#include "changes/tree.h"

namespace ttyward::changes {

using base::ErrorCode;
using base::fail;
using base::fail_errno;
using base::Result;
using base::UniqueFd;

namespace {

constexpr uint64_t kLargestInfo = uint64_t{1} << 20;
constexpr uint64_t kLargestList = uint64_t{512} << 20;
constexpr uint64_t kLargestShown = uint64_t{4} << 20;  // of a difference

bool selects(const std::string& path, const std::string& choice) {
  return path == choice || path.starts_with(choice + "/");
}

std::string mode_text(const Node& node) {
  const char* kind = node.type == NodeType::Link ? "120" : "100";
  char bits[8];
  std::snprintf(bits, sizeof bits, "%03o", node.mode & 0777U);
  return std::string(kind) + (node.type == NodeType::Link ? "000" : bits);
}

}  // namespace

ChangeSet::ChangeSet(std::string path, UniqueFd folder, UniqueFd lock, Info info)
    : path_(std::move(path)), folder_(std::move(folder)), lock_(std::move(lock)), info_(std::move(info)) {}

Result<ChangeSet> ChangeSet::open(const std::string& path, Access access) {
  auto folder = base::open_private_folder(path, base::IfMissing::Fail);
  if (!folder) return tl::unexpected(folder.error());
  UniqueFd lock;
  if (access != Access::Read) {
    lock.reset(::openat(folder->get(), "lock", O_RDWR | O_CREAT | O_NOFOLLOW | O_CLOEXEC, 0600));
    if (!lock) return fail_errno(errno, "cannot lock the change set");
    if (::flock(lock.get(), LOCK_EX | LOCK_NB) != 0) {
      return fail(
          ErrorCode::Unavailable,
          "the change set is in use: its command still runs, or it is being applied. Try again later");
    }
  }
  auto text = read_small(folder->get(), "info", kLargestInfo);
  if (!text) return tl::unexpected(text.error());
  auto info = decode_info(*text);
  if (!info) return tl::unexpected(info.error());
  ChangeSet set(path, std::move(*folder), std::move(lock), std::move(*info));
  if (access == Access::Exclusive && set.info_.state == State::Running && set.info_.keeper.alive()) {
    return fail(ErrorCode::Unavailable,
                "command " + set.info_.id + " still runs. Wait for its end, or interrupt it");
  }
  return set;
}

bool ChangeSet::running() const {
  if (info_.state != State::Running) return false;
  if (info_.keeper.alive()) return true;
  if (lock_.valid()) return false;
  const UniqueFd lock(::openat(folder_.get(), "lock", O_RDWR | O_NOFOLLOW | O_CLOEXEC));
  return lock.valid() && ::flock(lock.get(), LOCK_SH | LOCK_NB) != 0 && errno == EWOULDBLOCK;
}

Result<UniqueFd> ChangeSet::open_workspace() const {
  UniqueFd opened(::open(info_.workspace.c_str(), O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC));
  if (!opened) return fail_errno(errno, "cannot open the workspace " + info_.workspace);
  struct stat info{};
  if (::fstat(opened.get(), &info) != 0) return fail_errno(errno, "cannot look at the workspace");
  if (info.st_dev != info_.device || info.st_ino != info_.inode) {
    return fail(ErrorCode::Unavailable, info_.workspace +
                                            " is not the folder in which the command ran: it was replaced. "
                                            "Move the old one back, or discard the changes");
  }
  return opened;
}

Result<void> ChangeSet::write_info() {
  return write_atomically(folder_.get(), "info", encode(info_));
}

Result<void> ChangeSet::set_keeper(pid_t pid) {
  info_.keeper = Keeper::of(pid);
  return write_info();
}

Result<std::vector<Entry>> ChangeSet::scan_now() const {
  auto upper = open_beneath(folder_.get(), "upper", O_RDONLY | O_DIRECTORY);
  if (!upper) return tl::unexpected(upper.error());
  auto workspace = open_workspace();
  if (!workspace) return tl::unexpected(workspace.error());
  ScanOptions options;
  options.began_ns = info_.began_ns;
  options.protected_paths = info_.protected_paths;
  return scan(upper->get(), workspace->get(), options);
}

Result<std::vector<Entry>> ChangeSet::finish() {
  auto found = scan_now();
  if (!found) return found;
  if (auto written = write_atomically(folder_.get(), "entries", encode(*found)); !written)
    return tl::unexpected(written.error());
  info_.bytes = disk_usage(folder_.get(), "upper");
  info_.state = State::Finished;
  if (auto written = write_info(); !written) return tl::unexpected(written.error());
  return found;
}

Result<std::vector<Entry>> ChangeSet::entries() const {
  if (info_.state == State::Running) return scan_now();
  auto text = read_small(folder_.get(), "entries", kLargestList);
  if (!text) return tl::unexpected(text.error());
  return decode_entries(*text);
}

Result<std::vector<AppliedEntry>> ChangeSet::applied() const {
  auto text = read_small(folder_.get(), "applied", kLargestList);
  if (!text) {
    if (text.error().sys_errno == ENOENT) return std::vector<AppliedEntry>();
    return tl::unexpected(text.error());
  }
  return decode_applied(*text);
}

Result<void> ChangeSet::write_applied(const std::vector<AppliedEntry>& entries) {
  return write_atomically(folder_.get(), "applied", encode(entries), Durable::Now);
}

Result<void> ChangeSet::discard() && {
  const size_t slash = path_.rfind('/');
  auto shelf = base::open_private_folder(path_.substr(0, slash), base::IfMissing::Fail);
  if (!shelf) return tl::unexpected(shelf.error());
  // First it is gone for everybody, then its files go.
  const std::string other = std::string(kDiscarded) + base::random_nonce();
  if (::renameat(shelf->get(), path_.substr(slash + 1).c_str(), shelf->get(), other.c_str()) != 0)
    return fail_errno(errno, "cannot remove the change set");
  return remove_node(shelf->get(), other);
}

// Which entries are meant, with the new folders they need. Those that cannot be applied are left out.
Result<std::vector<Entry>> ChangeSet::chosen(const ApplyChoice& choice, Applied& outcome) const {
  auto all = entries();
  if (!all) return all;
  std::vector<bool> wanted(all->size(), choice.paths.empty());
  for (const std::string& path : choice.paths) {
    bool any = false;
    for (size_t i = 0; i < all->size(); i++) {
      const Entry& entry = (*all)[i];
      if (entry.kind == Kind::Deleted && path.starts_with(entry.path + "/")) {
        return fail(ErrorCode::InvalidArgument, quoted_path(path) +
                                                    " is in a folder that was deleted as a whole; "
                                                    "choose the folder " +
                                                    quoted_path(entry.path));
      }
      if (!selects(entry.path, path)) continue;
      wanted[i] = true;
      any = true;
    }
    if (!any) {
      return fail(ErrorCode::NotFound,
                  "the command did not change " + quoted_path(path) + "; see: ttyward changes " + info_.id);
    }
  }
  auto before = applied();
  if (!before) return tl::unexpected(before.error());
  std::vector<Entry> made;
  for (size_t i = 0; i < all->size(); i++) {
    Entry& entry = (*all)[i];
    const bool folder = entry.kind != Kind::Deleted && entry.after.type == NodeType::Folder;
    for (size_t j = i + 1; folder && !wanted[i] && j < all->size(); j++) {
      if (!(*all)[j].path.starts_with(entry.path + "/")) break;
      wanted[i] = wanted[j];
    }
    if (!wanted[i]) continue;
    const bool done = std::any_of(before->begin(), before->end(), [&](const AppliedEntry& each) {
      return each.done && each.entry.path == entry.path;
    });
    if (done) continue;
    if (entry.obstacle != Obstacle::None) {
      outcome.left_out.push_back({entry.path, std::string(obstacle_text(entry.obstacle))});
      continue;
    }
    made.push_back(std::move(entry));
  }
  return made;
}

Result<Applied> ChangeSet::apply(const ApplyChoice& choice) {
  if (auto recovered = recover(); !recovered) return tl::unexpected(recovered.error());
  if (info_.state == State::Running) {
    if (auto finished = finish(); !finished) return tl::unexpected(finished.error());
  }
  Applied outcome;
  auto meant = chosen(choice, outcome);
  if (!meant) return tl::unexpected(meant.error());
  auto workspace = open_workspace();
  if (!workspace) return tl::unexpected(workspace.error());
  outcome.conflicts = settle_conflicts(workspace->get(), *meant, choice.over_conflicts);
  if (!outcome.conflicts.empty() || meant->empty()) return outcome;
  auto done = applied();
  if (!done) return tl::unexpected(done.error());

  auto staging = Staging::begin(workspace->get(), folder_.get(), info_.id);
  if (!staging) return tl::unexpected(staging.error());
  auto planned = staging->stage(*meant, *done);
  if (!planned) return tl::unexpected(planned.error());
  std::vector<AppliedEntry> record = *done;
  record.insert(record.end(), planned->begin(), planned->end());
  const State was = info_.state;
  if (auto written = write_applied(record); !written) return tl::unexpected(written.error());
  info_.state = State::Applying;
  if (auto written = write_info(); !written) return tl::unexpected(written.error());

  if (auto moved = staging->commit(*planned); !moved) {
    const base::Error error = moved.error();
    if (!staging->take_back(*planned)) return tl::unexpected(error);  // the next call tries again
    static_cast<void>(write_applied(*done));
    info_.state = was;
    static_cast<void>(write_info());
    return tl::unexpected(error);
  }
  for (const AppliedEntry& each : *planned) outcome.paths.push_back(each.entry.path);
  done->insert(done->end(), std::make_move_iterator(planned->begin()),
               std::make_move_iterator(planned->end()));
  if (auto written = write_applied(*done); !written) return tl::unexpected(written.error());
  auto all = entries();
  const auto applicable = [](const Entry& entry) { return entry.obstacle == Obstacle::None; };
  const bool whole =
      all && std::count_if(all->begin(), all->end(), applicable) <= static_cast<ptrdiff_t>(done->size());
  info_.state = whole ? State::Applied : State::Finished;
  info_.applied_ms = base::unix_ms();
  if (auto written = write_info(); !written) return tl::unexpected(written.error());
  return outcome;
}

// Takes back an apply that a kill or a crash cut short.
Result<void> ChangeSet::recover() {
  if (info_.state != State::Applying) return {};
  auto record = applied();
  if (!record) return tl::unexpected(record.error());
  auto workspace = open_workspace();
  if (!workspace) return tl::unexpected(workspace.error());
  std::vector<AppliedEntry> done;
  std::vector<AppliedEntry> begun;
  for (AppliedEntry& each : *record) (each.done ? done : begun).push_back(std::move(each));
  auto staging = Staging::resume(workspace->get(), folder_.get(), info_.id);
  if (!staging) return tl::unexpected(staging.error());
  if (auto back = staging->take_back(begun); !back) return back;
  if (auto written = write_applied(done); !written) return written;
  info_.state = State::Finished;
  return write_info();
}

Result<Applied> ChangeSet::undo(bool over_conflicts) {
  if (auto recovered = recover(); !recovered) return tl::unexpected(recovered.error());
  auto record = applied();
  if (!record) return tl::unexpected(record.error());
  auto workspace = open_workspace();
  if (!workspace) return tl::unexpected(workspace.error());
  Applied outcome;
  if (!over_conflicts) outcome.conflicts = later_changes(workspace->get(), folder_.get(), *record);
  if (!outcome.conflicts.empty() || record->empty()) return outcome;
  auto staging = Staging::begin(workspace->get(), folder_.get(), info_.id);
  if (!staging) return tl::unexpected(staging.error());
  if (auto back = staging->take_back(*record); !back) return tl::unexpected(back.error());
  for (const AppliedEntry& each : *record) outcome.paths.push_back(each.entry.path);
  if (auto written = write_applied({}); !written) return tl::unexpected(written.error());
  info_.state = State::Undone;
  if (auto written = write_info(); !written) return tl::unexpected(written.error());
  return outcome;
}

std::optional<ChangeSet::Was> ChangeSet::before_of(const Entry& entry) const {
  if (!entry.before.exists()) return std::nullopt;
  if (auto record = applied()) {
    for (const AppliedEntry& each : *record) {
      if (each.entry.path != entry.path || each.saved == 0) continue;
      auto saved = open_beneath(folder_.get(), "before", O_PATH | O_DIRECTORY);
      if (!saved) return std::nullopt;
      return Was{std::move(*saved), std::to_string(each.saved)};
    }
  }
  auto workspace = open_workspace();
  if (!workspace) return std::nullopt;
  auto spot = spot_of(workspace->get(), entry.path);
  if (!spot) return std::nullopt;
  return Was{std::move(spot->folder), std::move(spot->name)};
}

std::string ChangeSet::diff(const Entry& entry) const {
  const std::string a = quoted_path("a/" + entry.path);
  const std::string b = quoted_path("b/" + entry.path);
  const bool was_folder = entry.before.type == NodeType::Folder;
  const bool is_folder = entry.after.type == NodeType::Folder;
  std::string out;
  if (was_folder && !is_folder) {
    out += "Deleted folder " + quoted_path(entry.path) + " with " + std::to_string(entry.files_below) +
           " files\n";
    if (!entry.after.exists()) return out;
  }
  if (is_folder) return out;  // what is in it follows
  if (entry.obstacle != Obstacle::None && entry.obstacle != Obstacle::Protected)
    return out + "Not shown: " + quoted_path(entry.path) + ": " + std::string(obstacle_text(entry.obstacle)) +
           "\n";

  out += "diff --git " + a + " " + b + "\n";
  const bool had = entry.before.exists() && !was_folder;
  const bool has = entry.after.exists();
  if (!had) out += "new file mode " + mode_text(entry.after) + "\n";
  if (!has) out += "deleted file mode " + mode_text(entry.before) + "\n";
  if (had && has && mode_text(entry.before) != mode_text(entry.after))
    out += "old mode " + mode_text(entry.before) + "\nnew mode " + mode_text(entry.after) + "\n";
  // The bytes on one side; nullopt: too large, or not to be read.
  const auto bytes = [](int folder, const std::string& name, const Node& node) -> std::optional<std::string> {
    if (node.type == NodeType::Link) {
      auto target = link_target(folder, name);
      return target ? std::optional(std::move(*target)) : std::nullopt;
    }
    auto file = open_file(folder, name);
    if (!file) return std::nullopt;
    return content(file->get(), kLargestShown, name).value_or(std::nullopt);
  };
  std::optional<std::string> before = std::string();
  std::optional<std::string> after = std::string();
  if (had) {
    const auto was = before_of(entry);
    before = was ? bytes(was->folder.get(), was->name, entry.before) : std::nullopt;
  }
  if (has) {
    auto spot = spot_of(folder_.get(), "upper/" + entry.path);
    after = spot ? bytes(spot->folder.get(), spot->name, entry.after) : std::nullopt;
  }
  if (!before || !after) return out + "Not shown: " + a + " and " + b + " are too large or cannot be read\n";
  if (!is_text(*before) || !is_text(*after)) return out + "Binary files " + a + " and " + b + " differ\n";
  const std::string hunks = unified_hunks(*before, *after);
  if (hunks.empty()) return out;
  return out + "--- " + (had ? a : "/dev/null") + "\n+++ " + (has ? b : "/dev/null") + "\n" + hunks;
}

}  // namespace ttyward::changes
