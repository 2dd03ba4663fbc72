#include "changes/scan.h"

#include <fcntl.h>
#include <sys/xattr.h>

#include <algorithm>
#include <cerrno>
#include <climits>
#include <cstring>
#include <memory>
#include <utility>

#include "base/file_io.h"
#include "base/hex.h"
#include "base/sha256.h"
#include "changes/diff.h"
#include "changes/tree.h"

namespace ttyward::changes {

using base::ErrorCode;
using base::fail;
using base::Result;

namespace {

constexpr size_t kSniffed = 8000;  // bytes that decide whether a large file is binary

std::string joined(const std::string& folder, const std::string& name) {
  return folder.empty() ? name : folder + "/" + name;
}

// The value of overlay.NAME, in either of the places where the kernel keeps it. Empty: it has none.
std::string overlay_attribute(int fd, const char* name) {
  for (const char* prefix : {"user.overlay.", "trusted.overlay."}) {
    char value[256];
    const ssize_t length = ::fgetxattr(fd, (std::string(prefix) + name).c_str(), value, sizeof value);
    if (length >= 0) return length == 0 ? " " : std::string(value, static_cast<size_t>(length));
  }
  return {};
}

bool is_attribute_whiteout(int folder, const Named& named) {
  if (named.node.type != NodeType::File || named.node.size != 0) return false;
  auto opened = open_file(folder, named.name);
  return opened && !overlay_attribute(opened->get(), "whiteout").empty();
}

// Whether two files have the same bytes.
Result<bool> same_bytes(int a, int b, const std::string& shown) {
  constexpr size_t kBytes = size_t{64} << 10;
  const auto one = std::make_unique<char[]>(kBytes);
  const auto other = std::make_unique<char[]>(kBytes);
  for (uint64_t offset = 0;; offset += kBytes) {
    auto first = base::read_at(a, one.get(), kBytes, offset, shown);
    if (!first) return tl::unexpected(first.error());
    auto second = base::read_at(b, other.get(), kBytes, offset, shown);
    if (!second) return tl::unexpected(second.error());
    if (*first != *second || std::memcmp(one.get(), other.get(), *first) != 0) return false;
    if (*first < kBytes) return true;
  }
}

class Scanner {
 public:
  Scanner(int upper, int workspace, const ScanOptions& options)
      : upper_(upper), workspace_(workspace), options_(options) {}

  Result<std::vector<Entry>> run() {
    open_.push_back({"", false, true});
    while (!open_.empty()) {
      const Folder next = std::move(open_.back());
      open_.pop_back();
      if (auto scanned = scan_folder(next); !scanned) return tl::unexpected(scanned.error());
      if (entries_.size() > options_.most_entries) {
        return fail(ErrorCode::Exhausted, "the command changed more than " +
                                              std::to_string(options_.most_entries) +
                                              " files; that is too many to list");
      }
    }
    for (Entry& entry : entries_)
      if (is_protected(entry.path)) entry.obstacle = Obstacle::Protected;
    std::sort(entries_.begin(), entries_.end(),
              [](const Entry& a, const Entry& b) { return comes_before(a.path, b.path); });
    return std::move(entries_);
  }

 private:
  struct Folder {
    std::string path;
    bool opaque = false;       // nothing of the lower folder shows through
    bool lower_there = false;  // the workspace has a folder here
  };

  Result<void> scan_folder(const Folder& folder) {
    auto opened = open_beneath(upper_, folder.path, O_RDONLY | O_DIRECTORY);
    if (!opened) {
      const int error = opened.error().sys_errno;
      if (error != EACCES && error != ENAMETOOLONG) return tl::unexpected(opened.error());
      note_obstacle(folder.path, error == EACCES ? Obstacle::Unreadable : Obstacle::TooDeep);
      return {};
    }
    const std::string opaque = overlay_attribute(opened->get(), "opaque");
    const bool hides = folder.opaque || opaque == "y";
    if (!overlay_attribute(opened->get(), "redirect").empty()) {
      note_obstacle(folder.path, Obstacle::Redirected);
      return {};
    }
    auto found = entries_of(opened->get(), folder.path);
    if (!found) return tl::unexpected(found.error());
    std::vector<std::string> present;
    for (const Named& named : *found) {
      const std::string path = joined(folder.path, named.name);
      if (path.size() >= PATH_MAX) {
        Entry entry;
        entry.path = path;
        entry.after = named.node;
        entry.obstacle = Obstacle::TooDeep;
        entries_.push_back(std::move(entry));
        continue;
      }
      const bool whiteout = named.whiteout || (opaque == "x" && is_attribute_whiteout(opened->get(), named));
      if (!whiteout) present.push_back(named.name);
      if (whiteout && hides) continue;
      auto before = folder.lower_there ? look(workspace_, path) : Result<Node>(Node{});
      if (!before) return tl::unexpected(before.error());
      auto taken = whiteout ? take_deleted(path, *before) : take(path, named.node, *before, hides);
      if (!taken) return taken;
    }
    return hides && folder.lower_there ? take_hidden(folder.path, present) : Result<void>();
  }

  bool is_protected(const std::string& path) const {
    return std::any_of(
        options_.protected_paths.begin(), options_.protected_paths.end(),
        [&](const std::string& control) { return path == control || path.starts_with(control + "/"); });
  }

  // Marks what was noted for the path, or notes it.
  void note_obstacle(const std::string& path, Obstacle obstacle) {
    for (Entry& entry : entries_) {
      if (entry.path != path) continue;
      entry.obstacle = obstacle;
      return;
    }
    Entry entry;
    entry.path = path;
    entry.kind = Kind::Changed;
    entry.obstacle = obstacle;
    entries_.push_back(std::move(entry));
  }

  // Whatever the lower folder has and the opaque one has not is gone.
  Result<void> take_hidden(const std::string& path, const std::vector<std::string>& present) {
    auto opened = open_beneath(workspace_, path, O_RDONLY | O_DIRECTORY);
    if (!opened) return {};  // gone meanwhile, or closed to us: nothing to delete
    auto lower = entries_of(opened->get(), path);
    if (!lower) return tl::unexpected(lower.error());
    for (const Named& named : *lower) {
      if (std::binary_search(present.begin(), present.end(), named.name)) continue;
      if (auto taken = take_deleted(joined(path, named.name), named.node); !taken) return taken;
    }
    return {};
  }

  Result<void> take_deleted(const std::string& path, const Node& before) {
    if (!before.exists()) return {};  // the workspace lost it, too
    Entry entry;
    entry.path = path;
    entry.kind = Kind::Deleted;
    describe_before(entry, before);
    count_lines(entry);
    entries_.push_back(std::move(entry));
    return {};
  }

  Result<void> take(const std::string& path, const Node& after, const Node& before, bool hides) {
    Entry entry;
    entry.path = path;
    entry.kind = before.exists() ? Kind::Changed : Kind::Added;
    entry.after = after;
    if (after.type == NodeType::Special) {
      entry.obstacle = Obstacle::SpecialFile;
      entry.before = before;
      entries_.push_back(std::move(entry));
      return {};
    }
    if (after.type == NodeType::Folder) {
      const bool merged = before.type == NodeType::Folder;
      open_.push_back({path, hides || !merged, merged});
      if (merged && before.mode == after.mode) return {};
    }
    if (after.type == NodeType::Link) {
      auto spot = spot_of(upper_, path);
      if (!spot) return tl::unexpected(spot.error());
      auto target = link_target(spot->folder.get(), spot->name);
      if (!target) return tl::unexpected(target.error());
      entry.link = std::move(*target);
      if (before.type == NodeType::Link && link_at(workspace_, path) == entry.link) return {};
    }
    if (after.type == NodeType::File) {
      auto opened = open_file(upper_, path);
      if (!opened) {
        entry.obstacle = Obstacle::Unreadable;
        entry.before = before;
        entries_.push_back(std::move(entry));
        return {};
      }
      if (!overlay_attribute(opened->get(), "redirect").empty() ||
          !overlay_attribute(opened->get(), "metacopy").empty()) {
        entry.obstacle = Obstacle::Redirected;
      } else if (before.type == NodeType::File && before.size == after.size) {
        auto lower = open_file(workspace_, path);
        const bool same = lower && same_bytes(opened->get(), lower->get(), path).value_or(false);
        if (same && before.mode == after.mode) return {};
        if (same) entry.lines_added = entry.lines_removed = 0;
      }
    }
    describe_before(entry, before);
    if (!entry.lines_added) count_lines(entry);
    entries_.push_back(std::move(entry));
    return {};
  }

  std::string link_at(int root, const std::string& path) const {
    auto spot = spot_of(root, path);
    if (!spot) return {};
    return link_target(spot->folder.get(), spot->name).value_or("");
  }

  void describe_before(Entry& entry, const Node& before) {
    entry.before = before;
    if (!before.exists()) return;
    if (before.type == NodeType::Folder && entry.after.type == NodeType::Folder) return;  // its permissions
    entry.stale = before.changed_ns > options_.began_ns && options_.began_ns != 0;
    if (before.type == NodeType::Folder) return describe_tree(entry);
    if (before.type == NodeType::File && !may_read(before.size)) return;
    entry.before_hash = fingerprint(workspace_, entry.path, before, options_.largest_compared);
  }

  void describe_tree(Entry& entry) {
    std::vector<std::string> open = {entry.path};
    while (!open.empty()) {
      const std::string next = std::move(open.back());
      open.pop_back();
      auto opened = open_beneath(workspace_, next, O_RDONLY | O_DIRECTORY);
      if (!opened) continue;
      auto found = entries_of(opened->get(), next);
      if (!found) continue;
      for (const Named& named : *found) {
        entry.stale = entry.stale || (options_.began_ns != 0 && named.node.changed_ns > options_.began_ns);
        if (named.node.type == NodeType::Folder) {
          open.push_back(joined(next, named.name));
        } else {
          entry.files_below++;
          entry.bytes_below += named.node.size;
        }
      }
    }
    entry.before_hash = fingerprint(workspace_, entry.path, entry.before, options_.largest_compared);
  }

  bool may_read(uint64_t bytes) {
    if (bytes > options_.largest_compared || read_ + bytes > options_.most_read) return false;
    read_ += bytes;
    return true;
  }

  // nullopt: too large, or unreadable; `entry` says if it is binary.
  std::optional<std::string> text_of(int root, const Entry& entry, const Node& node, bool& binary) {
    if (node.type != NodeType::File) return std::string();
    auto opened = open_file(root, entry.path);
    if (!opened) return std::nullopt;
    if (!may_read(node.size)) {
      std::string start(std::min<uint64_t>(node.size, kSniffed), '\0');
      static_cast<void>(base::read_at(opened->get(), start.data(), start.size(), 0, entry.path));
      binary = binary || !is_text(start);
      return std::nullopt;
    }
    auto read = content(opened->get(), options_.largest_compared, entry.path);
    if (!read || !*read) return std::nullopt;
    if (!is_text(**read)) {
      binary = true;
      return std::nullopt;
    }
    return std::move(**read);
  }

  void count_lines(Entry& entry) {
    if (entry.before.type != NodeType::File && entry.after.type != NodeType::File) return;
    auto before = text_of(workspace_, entry, entry.before, entry.binary);
    auto after = text_of(upper_, entry, entry.after, entry.binary);
    if (!before || !after) return;
    const LineDiff diff = diff_lines(split_lines(*before), split_lines(*after));
    entry.lines_added = diff.added_count;
    entry.lines_removed = diff.removed_count;
  }

  const int upper_;
  const int workspace_;
  const ScanOptions options_;
  std::vector<Folder> open_;
  std::vector<Entry> entries_;
  uint64_t read_ = 0;
};

std::string hex_hash(std::string_view text) {
  return base::to_hex(base::sha256(text));
}

std::string tree_fingerprint(int root, const std::string& path) {
  std::string listing;
  std::vector<std::string> open = {path};
  while (!open.empty()) {
    const std::string next = std::move(open.back());
    open.pop_back();
    auto opened = open_beneath(root, next, O_RDONLY | O_DIRECTORY);
    auto found = opened ? entries_of(opened->get(), next) : Result<std::vector<Named>>(std::vector<Named>());
    if (!found) continue;
    for (const Named& named : *found) {
      listing += joined(next, named.name);
      listing += '\0';
      const Node& node = named.node;
      for (const int64_t number : {static_cast<int64_t>(node.type), static_cast<int64_t>(node.mode),
                                   static_cast<int64_t>(node.inode),
                                   node.type == NodeType::Folder ? 0 : static_cast<int64_t>(node.size),
                                   node.type == NodeType::Folder ? 0 : node.modified_ns})
        listing += std::to_string(number) + ",";
      if (node.type == NodeType::Folder) open.push_back(joined(next, named.name));
    }
  }
  return hex_hash(listing);
}

}  // namespace

Result<std::vector<Entry>> scan(int upper, int workspace, const ScanOptions& options) {
  return Scanner(upper, workspace, options).run();
}

std::string fingerprint(int root, const std::string& path, const Node& node, uint64_t largest) {
  if (node.type == NodeType::Folder) return tree_fingerprint(root, path);
  if (node.type == NodeType::Link) {
    auto spot = spot_of(root, path);
    if (!spot) return {};
    auto target = link_target(spot->folder.get(), spot->name);
    return target ? hex_hash(*target) : "";
  }
  if (node.type != NodeType::File || node.size > largest) return {};
  auto opened = open_file(root, path);
  if (!opened) return {};
  auto read = content(opened->get(), largest, path);
  return read && *read ? hex_hash(**read) : "";
}

}  // namespace ttyward::changes
