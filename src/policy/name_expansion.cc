#include "policy/name_expansion.h"

#include <algorithm>
#include <array>
#include <deque>

#include "policy/git_repository.h"
#include "policy/words.h"

namespace ttyward::policy {
namespace {

constexpr size_t kMaxEntries = kMaxFolderEntries;  // looked at for one path
constexpr size_t kMaxNames = 2'000;                // that a glob may match
constexpr size_t kMaxFolderDepth = 64;
constexpr auto kLeftOut = std::to_array<std::string_view>(
    {".git", ".hg", ".svn", "node_modules", "site-packages", ".venv", "venv"});

bool has_glob(std::string_view text) {
  return text.find(kStar) != std::string_view::npos || text.find(kOne) != std::string_view::npos;
}

std::string join(const std::string& folder, std::string_view name) {
  return folder == "/" ? "/" + std::string(name) : folder + "/" + std::string(name);
}

class GlobWalk {
 public:
  explicit GlobWalk(const FileView& files) : files_(files) {}

  NameExpansion run(std::string_view absolute) {
    std::vector<ExpandedName> front = {{"/", false}};
    while (!absolute.empty() && !out_.too_many) {
      const size_t slash = absolute.find('/');
      const std::string_view part = absolute.substr(0, slash);
      absolute.remove_prefix(slash == std::string_view::npos ? absolute.size() : slash + 1);
      if (part.empty()) continue;
      front = step(front, part);
    }
    if (!out_.too_many) out_.names = std::move(front);
    return std::move(out_);
  }

 private:
  std::vector<ExpandedName> step(const std::vector<ExpandedName>& front, std::string_view part) {
    std::vector<ExpandedName> next;
    if (!has_glob(part)) {
      for (const ExpandedName& name : front) next.push_back({join(name.path, part), name.by_link});
      return next;
    }
    // With globstar ** is any depth; without it is one folder. Both count.
    const bool any_depth = part.size() == 2 && part[0] == kStar && part[1] == kStar;
    for (const ExpandedName& name : front) {
      if (any_depth) next.push_back(name);
      match(name, part, any_depth, 0, next);
      if (out_.too_many) return {};
    }
    return next;
  }

  void match(const ExpandedName& folder, std::string_view part, bool any_depth, size_t depth,
             std::vector<ExpandedName>& next) {
    const auto entries = files_.list(folder.path, kMaxEntries);
    if (!entries) {
      // Not a folder, not there, or not to be read: nothing matches. Too full: nobody knows.
      out_.too_many |= files_.list(folder.path, 2 * kMaxEntries).has_value();
      return;
    }
    out_.looked = true;
    looked_ += entries->size();
    for (const FolderEntry& entry : *entries) {
      if (entry.name.starts_with('.') && !part.starts_with('.')) continue;
      if (!glob_matches(part, entry.name)) continue;
      next.push_back({join(folder.path, entry.name), folder.by_link || entry.kind == EntryKind::Link});
      if (any_depth && entry.kind == EntryKind::Folder && depth < kMaxFolderDepth && !out_.too_many) {
        const ExpandedName deeper = next.back();
        match(deeper, part, true, depth + 1, next);
      }
      if (next.size() > kMaxNames || looked_ > kMaxEntries) out_.too_many = true;
      if (out_.too_many) return;
    }
  }

  const FileView& files_;
  NameExpansion out_;
  size_t looked_ = 0;
};

class FolderWalk {
 public:
  FolderWalk(const FolderSearch& search, const Place& place) : search_(search), place_(place) {}

  FolderFinding run(const std::string& folder) {
    waiting_.push_back(folder);
    while (!waiting_.empty() && !out_.too_many && out_.secret.empty() && out_.outside.empty()) {
      const std::string next = std::move(waiting_.front());
      waiting_.pop_front();
      const auto entries = place_.files->list(next, kMaxEntries);
      if (!entries) {
        out_.too_many |= place_.files->list(next, 2 * kMaxEntries).has_value();
        continue;
      }
      looked_ += entries->size();
      out_.too_many |= looked_ > kMaxEntries;
      for (const FolderEntry& entry : *entries) visit(next, entry);
    }
    if (left_out_any_ && search_.links_count && search_.depth == FolderSearch::Depth::All)
      tracked_links(folder);
    return std::move(out_);
  }

 private:
  // Links in folders that were left out count if they came with the repository.
  void tracked_links(const std::string& folder) {
    std::vector<GitIndexEntry> entries;
    if (!tracked_files(folder, place_, entries)) return;
    for (const GitIndexEntry& entry : entries) {
      if (entry.mode != kGitSymlink || !entry.path.starts_with(folder + "/")) continue;
      visit_link(entry.path, std::string_view(entry.path).substr(entry.path.rfind('/') + 1));
    }
  }

  void visit(const std::string& folder, const FolderEntry& entry) {
    if (!search_.hidden && entry.name.starts_with('.')) return;
    const std::string path = join(folder, entry.name);
    if (entry.kind == EntryKind::Folder) {
      const bool left_out = std::find(kLeftOut.begin(), kLeftOut.end(), entry.name) != kLeftOut.end() ||
                            (search_.skips_folder != nullptr && search_.skips_folder(entry.name));
      if (search_.depth == FolderSearch::Depth::All && !left_out) waiting_.push_back(path);
      left_out_any_ |= left_out;
      return;
    }
    if (entry.kind == EntryKind::Link) return visit_link(path, entry.name);
    if (search_.takes && !search_.takes(entry.name)) return;
    if (names_secret(path)) out_.secret = path;
  }

  void visit_link(const std::string& path, std::string_view name) {
    if (!search_.links_count) return;
    if (search_.takes && !search_.takes(name) && !search_.follow) return;
    const PathFacts facts = look_at(path, "/", place_);
    if (facts.secret) {
      out_.secret = path;
    } else if (facts.zone != Zone::Workspace && look_at(path, "/", without_files()).zone == Zone::Workspace) {
      // Reading outside the workspace is harmless in itself; somebody's home, devices and processes are not.
      const bool matters = facts.zone == Zone::OtherHome || facts.zone == Zone::Device || facts.sandbox ||
                           facts.terminal || facts.disk;
      if (matters) out_.outside = path;
    }
  }

  Place without_files() const {
    Place bare = place_;
    bare.files = nullptr;
    return bare;
  }

  const FolderSearch& search_;
  const Place& place_;
  FolderFinding out_;
  std::deque<std::string> waiting_;
  size_t looked_ = 0;
  bool left_out_any_ = false;
};

}  // namespace

std::string live_pattern(std::string_view text) {
  std::string out;
  for (size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    if (c == '*') {
      out.push_back(kStar);
    } else if (c == '?') {
      out.push_back(kOne);
    } else if (c == '{') {
      const size_t end = text.find('}', i);
      out.push_back(kStar);
      i = end == std::string_view::npos ? text.size() : end;
    } else if (c == '[') {
      // The first ] that is not the first character of the set, nor in a class of it.
      size_t at = i + 1;
      while (at < text.size() && (text[at] == '!' || text[at] == '^')) ++at;
      if (at < text.size()) ++at;
      bool closed = false;
      for (; at < text.size() && !closed; ++at) {
        const bool in_class = text[at - 1] == '[' && at < text.size() &&
                              std::string_view(":.=").find(text[at]) != std::string_view::npos;
        if (in_class) {
          const size_t end = text.find(std::string{text[at], ']'}, at + 1);
          if (end == std::string_view::npos) break;
          at = end + 1;
        } else if (text[at] == ']') {
          closed = true;
        }
      }
      out.push_back(closed ? kOne : kStar);
      if (!closed) break;
      i = at - 1;
    } else if (c == '\\' && i + 1 < text.size()) {
      out.push_back(text[++i]);
    } else {
      out.push_back(c);
    }
  }
  return out;
}

NameExpansion expand_glob(std::string_view absolute, const FileView& files) {
  return GlobWalk(files).run(absolute);
}

FolderFinding search_folder(const std::string& folder, const FolderSearch& search, const Place& place) {
  if (place.files == nullptr) return {};
  return FolderWalk(search, place).run(folder);
}

}  // namespace ttyward::policy
