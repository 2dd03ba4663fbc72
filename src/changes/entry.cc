#include "changes/entry.h"

#include <algorithm>

#include "base/path.h"

namespace ttyward::changes {
namespace {

// Whether a link at `path` leads out of the workspace by what it says.
bool leads_out(const std::string& path, const std::string& target) {
  if (target.empty() || target.front() == '/') return true;
  const size_t slash = path.rfind('/');
  const std::string folder = slash == std::string::npos ? "" : path.substr(0, slash + 1);
  const std::string meant = base::normalize_path(folder + target);
  return meant == ".." || meant.starts_with("../");
}

}  // namespace

std::string_view kind_name(Kind kind) {
  switch (kind) {
    case Kind::Added:
      return "added";
    case Kind::Changed:
      return "changed";
    case Kind::Deleted:
      return "deleted";
  }
  return "";
}

std::string_view obstacle_text(Obstacle obstacle) {
  switch (obstacle) {
    case Obstacle::None:
      return "";
    case Obstacle::SpecialFile:
      return "a device, fifo or socket cannot be applied";
    case Obstacle::Unreadable:
      return "its permissions do not allow reading it";
    case Obstacle::TooDeep:
      return "its path is too long";
    case Obstacle::Redirected:
      return "the layer refers to another folder";
    case Obstacle::Protected:
      return "a control file, which a confined command must not change";
  }
  return "";
}

bool Entry::content_changed() const {
  return kind != Kind::Changed || before.type != after.type || after.type == NodeType::Link ||
         (after.type == NodeType::File && (lines_added.value_or(1) != 0 || lines_removed.value_or(1) != 0));
}

bool comes_before(std::string_view a, std::string_view b) {
  const auto rank = [](char c) { return c == '/' ? 0 : static_cast<int>(static_cast<unsigned char>(c)); };
  return std::lexicographical_compare(a.begin(), a.end(), b.begin(), b.end(),
                                      [&](char x, char y) { return rank(x) < rank(y); });
}

bool implied(const std::vector<Entry>& entries, size_t index) {
  const Entry& entry = entries[index];
  return entry.kind == Kind::Added && entry.after.type == NodeType::Folder && index + 1 < entries.size() &&
         entries[index + 1].path.starts_with(entry.path + "/");
}

Totals totals_of(const std::vector<Entry>& entries) {
  Totals sum;
  for (size_t i = 0; i < entries.size(); i++) {
    const Entry& entry = entries[i];
    if (implied(entries, i)) continue;
    sum.added += entry.kind == Kind::Added ? 1 : 0;
    sum.changed += entry.kind == Kind::Changed ? 1 : 0;
    sum.deleted += entry.kind == Kind::Deleted ? 1 : 0;
    sum.lines_added += entry.lines_added.value_or(0);
    sum.lines_removed += entry.lines_removed.value_or(0);
  }
  return sum;
}

std::string note_of(const Entry& entry) {
  if (entry.obstacle != Obstacle::None) return std::string(obstacle_text(entry.obstacle));
  std::string note;
  const auto add = [&note](const std::string& text) { note += (note.empty() ? "" : "; ") + text; };
  if (entry.stale) add("the workspace's own changed while the command ran");
  if (entry.after.type == NodeType::Link && leads_out(entry.path, entry.link))
    add("points outside the workspace");
  if (entry.after.type == NodeType::File && (entry.after.mode & 06000U) != 0)
    add("setuid and setgid are not kept");
  if (entry.after.type == NodeType::File && entry.after.links > 1)
    add("becomes a file of its own, not a hard link");
  return note;
}

}  // namespace ttyward::changes
