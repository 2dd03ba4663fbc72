// Names that are only known when a command runs, looked up when it is judged: what a glob matches, and what a
// listing or a search through a folder comes across.
//
// Bounded: where more files would have to be looked at, the answer is "too many", and the command asks.
#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "policy/paths.h"

namespace ttyward::policy {

inline constexpr size_t kMaxFolderEntries = 20'000;  // a folder with more is not looked at

struct ExpandedName {
  std::string path;      // absolute
  bool by_link = false;  // the last component, or one that the glob matched before it, is a symbolic link
};

struct NameExpansion {
  bool too_many = false;
  bool looked = false;  // some folder could be listed: what is not in `names` is not there
  std::vector<ExpandedName> names;
};

// `absolute` has live globs (kStar, kOne) and no other marks. Wildcards leave hidden names out, as in bash.
NameExpansion expand_glob(std::string_view absolute, const FileView& files);

// A pattern as programs take it (grep --include, rg -g, find -name), with its wildcards live. A set in
// brackets is one character; what is in braces may be anything.
std::string live_pattern(std::string_view text);

struct FolderSearch {
  enum class Depth : uint8_t { Here, All };
  Depth depth = Depth::All;
  bool hidden = true;                                  // names that begin with a dot, too
  bool follow = false;                                 // folders behind symbolic links, too
  bool links_count = true;                             // a link to a file is read through
  std::function<bool(std::string_view)> takes;         // a file's name; empty: all
  std::function<bool(std::string_view)> skips_folder;  // a folder's name; empty: none
};

struct FolderFinding {
  bool too_many = false;
  std::string secret;   // a file that is likely to hold credentials; empty: none
  std::string outside;  // a link that leads out of the workspace; empty: none
};

// Looks through what a search of `folder` (absolute) would read. Folders of dependencies and version control
// (node_modules, .git …) are left out: they are not where a person keeps credentials.
FolderFinding search_folder(const std::string& folder, const FolderSearch& search, const Place& place);

}  // namespace ttyward::policy
