// What a repository can make git run, read from its own files.
//
// git obeys the settings of the repository it stands in. For agents, variables override some of them
// (pty/guard_variables.h); the others are looked for here: drivers that convert, filter or compare files,
// hooks that a reading command triggers, settings included from elsewhere, submodules with settings of their
// own. .gitattributes only assigns drivers to files, so it does nothing without such a setting. The user's
// own settings (~/.gitconfig, /etc/gitconfig) are the user's choice.
#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "policy/paths.h"

namespace ttyward::policy {

struct GitSetting {
  std::string section;     // lower case
  std::string subsection;  // as written
  std::string key;         // lower case
  std::string value;

  bool operator==(const GitSetting&) const = default;
};

// False: git would refuse the file, or this reader does not understand it.
bool read_git_settings(std::string_view text, std::vector<GitSetting>& out);

struct GitIndexEntry {
  uint32_t mode = 0;
  std::string path;
};
inline constexpr uint32_t kGitLink = 0160000;  // a submodule
inline constexpr uint32_t kGitSymlink = 0120000;

// False: not an index of a version this reader knows.
bool read_git_index(std::string_view bytes, std::vector<GitIndexEntry>& out);

enum class GitReach : uint8_t {
  History,   // objects and references only
  WorkTree,  // files of the working tree, and submodules in it
};

struct RepositoryFinding {
  std::string problem;  // empty: nothing in it makes git run something
  std::string where;
};

// Looks for a repository as git does, from `folder` upwards. `subcommand` is what git was asked to do.
RepositoryFinding look_at_repository(const std::string& folder, std::string_view subcommand, GitReach reach,
                                     const Place& place);

// The entries of the index of the repository around `folder`, paths absolute; false if there is none that can
// be read.
bool tracked_files(const std::string& folder, const Place& place, std::vector<GitIndexEntry>& out);

}  // namespace ttyward::policy
