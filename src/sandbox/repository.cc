#include "sandbox/repository.h"

#include <limits.h>
#include <sys/stat.h>

#include <cstdlib>
#include <fstream>

#include "sandbox/profile.h"

namespace ttyward::sandbox {
namespace {

std::string first_line(const std::string& path) {
  std::ifstream file(path);
  std::string line;
  std::getline(file, line);
  return line.size() < PATH_MAX ? line : std::string();
}

std::string real(const std::string& path) {
  char resolved[PATH_MAX];
  return ::realpath(path.c_str(), resolved) != nullptr ? std::string(resolved) : std::string();
}

bool is_folder(const std::string& path) {
  struct stat about{};
  return ::lstat(path.c_str(), &about) == 0 && S_ISDIR(about.st_mode);
}

bool exists(const std::string& path) {
  struct stat about{};
  return ::lstat(path.c_str(), &about) == 0;
}

std::string joined(const std::string& folder, const std::string& path) {
  return path.starts_with("/") ? path : folder + "/" + path;
}

void show_repository(Plan& plan, const std::string& folder, bool writable) {
  Entry entry;
  entry.path = folder;
  entry.access = writable ? Entry::Access::Write : Entry::Access::Read;
  plan.entries.push_back(entry);  // a mount of its own: it cannot be renamed
  if (!writable) return;
  for (const char* name : {"hooks", "config"}) plan.read_only.push_back(folder + "/" + name);
  // git would read the first one only if its configuration says so, and the second in repositories of this
  // name.
  if (exists(folder + "/config.worktree")) plan.read_only.push_back(folder + "/config.worktree");
  if (folder.ends_with("/.git")) plan.read_only.push_back(folder + "/commondir");
}

// The repository to which a worktree's `.git` file points, if that repository points back: the file alone
// could have been written by a command in the workspace.
std::string repository_of_worktree(const std::string& workspace) {
  const std::string line = first_line(workspace + "/.git");
  constexpr std::string_view kBegin = "gitdir: ";
  if (!line.starts_with(kBegin)) return {};
  const std::string inner = real(joined(workspace, line.substr(kBegin.size())));
  if (inner.empty() || real(joined(inner, first_line(inner + "/gitdir"))) != workspace + "/.git") return {};
  const std::string common = real(joined(inner, first_line(inner + "/commondir")));
  if (common.empty() || !is_within(inner, common + "/worktrees") || !is_folder(common + "/objects"))
    return {};
  return common;
}

}  // namespace

void add_repository(Plan& plan, bool writable) {
  const std::string inside = plan.workspace + "/.git";
  if (is_folder(inside)) return show_repository(plan, inside, writable);
  if (!exists(inside)) return;
  if (writable) plan.read_only.push_back(inside);
  const std::string elsewhere = repository_of_worktree(plan.workspace);
  if (!elsewhere.empty() && (plan.home.empty() || !is_within(plan.home, elsewhere)))
    show_repository(plan, elsewhere, writable);
}

std::string workspace_of(const std::string& directory, const std::string& home) {
  for (std::string folder = directory; folder.size() > 1;) {
    if (folder == home) break;
    if (exists(folder + "/.git")) return folder;
    const size_t slash = folder.rfind('/');
    folder = slash == 0 ? "/" : folder.substr(0, slash);
  }
  return directory;
}

}  // namespace ttyward::sandbox
