#include "sandbox/repository.h"

#include <fcntl.h>
#include <limits.h>
#include <sys/stat.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <sstream>
#include <string_view>
#include <system_error>
#include <vector>

#include "base/file_io.h"
#include "base/path.h"
#include "base/unique_fd.h"
#include "sandbox/profile.h"

namespace ttyward::sandbox {
namespace {

// The beginning of a file. A pipe of that name, which a command in the workspace can make, does not hold us
// up.
std::string beginning_of(const std::string& path, size_t most) {
  const base::UniqueFd file(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY));
  struct stat about{};
  if (!file || ::fstat(file.get(), &about) != 0 || !S_ISREG(about.st_mode)) return {};
  std::string text(most, '\0');
  const auto got = base::read_at(file.get(), text.data(), text.size(), 0, path);
  text.resize(got ? *got : 0);
  return text;
}

std::string first_line(const std::string& path) {
  const std::string text = beginning_of(path, PATH_MAX);
  const size_t end = text.find('\n');
  return end == std::string::npos && text.size() == PATH_MAX ? std::string() : text.substr(0, end);
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

std::vector<std::string> folders_in(const std::string& folder) {
  std::vector<std::string> found;
  std::error_code failed;
  for (std::filesystem::directory_iterator at(folder, failed), end; !failed && at != end;
       at.increment(failed))
    if (is_folder(at->path())) found.push_back(at->path());
  return found;
}

void add_entry(Plan& plan, const std::string& folder, bool writable) {
  Entry entry;
  entry.path = folder;
  entry.access = writable ? Entry::Access::Write : Entry::Access::Read;
  plan.entries.push_back(entry);  // a mount of its own: it cannot be renamed
}

std::string trimmed(std::string_view text) {
  constexpr std::string_view kBlank = " \t\r";
  const size_t first = text.find_first_not_of(kBlank);
  if (first == std::string_view::npos) return {};
  text = text.substr(first, text.find_last_not_of(kBlank) - first + 1);
  if (text.size() >= 2 && text.front() == '"' && text.back() == '"') text = text.substr(1, text.size() - 2);
  return std::string(text);
}

std::string in_lower_case(std::string text) {
  for (char& c : text)
    if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
  return text;
}

// The values of git's settings that name files by which it runs programs, as they are written: hooks'
// folders, and configuration that is read, too. Of the file's first lines.
struct Named {
  std::vector<std::string> hooks;
  std::vector<std::string> included;
};
Named named_in(const std::string& config) {
  constexpr int kMostLines = 2000;
  Named named;
  constexpr size_t kMostText = 256 * 1024;
  std::istringstream file(beginning_of(config, kMostText));
  std::string section;
  std::string line;
  for (int i = 0; i < kMostLines && std::getline(file, line); ++i) {
    const std::string text = trimmed(line);
    if (text.starts_with("[")) {
      section = in_lower_case(text.substr(1, text.find_first_of(" ]\"") - 1));
      continue;
    }
    const size_t equals = text.find('=');
    if (equals == std::string::npos) continue;
    const std::string key = in_lower_case(trimmed(std::string_view(text).substr(0, equals)));
    const std::string value = trimmed(std::string_view(text).substr(equals + 1));
    if (section == "core" && key == "hookspath") named.hooks.push_back(value);
    if ((section == "include" || section == "includeif") && key == "path") named.included.push_back(value);
  }
  return named;
}

void keep_in_workspace(Plan& plan, const std::string& path) {
  const std::string whole = base::normalize_path(path);
  if (is_within(whole, plan.workspace) && whole != plan.workspace) plan.read_only.push_back(whole);
}

// Hooks and configuration that lie among the files of the workspace, because a setting says so.
void protect_named_files(Plan& plan, const std::string& repository) {
  for (const std::string& config : {repository + "/config", plan.home + "/.gitconfig"}) {
    const Named named = named_in(config);
    for (const std::string& hooks : named.hooks) keep_in_workspace(plan, joined(plan.workspace, hooks));
    const std::string folder = config.substr(0, config.rfind('/'));
    for (const std::string& more : named.included)
      if (exists(joined(folder, more))) keep_in_workspace(plan, joined(folder, more));
  }
}

void protect_repository(Plan& plan, const std::string& folder) {
  for (const char* name : {"hooks", "config"}) plan.read_only.push_back(folder + "/" + name);
  // git would read the first one only if its configuration says so, and the second in repositories of this
  // name.
  if (exists(folder + "/config.worktree")) plan.read_only.push_back(folder + "/config.worktree");
  if (folder.ends_with("/.git")) plan.read_only.push_back(folder + "/commondir");
}

// Each of them costs some mounts. A repository with more is protected as a whole.
constexpr size_t kMostModules = 64;
constexpr size_t kMostWorktrees = 64;
constexpr int kModuleLevels = 4;

// Submodules have repositories of their own in this one; those can have some, too. False: there are too many,
// or they lie too deep.
bool protect_modules(Plan& plan, const std::string& folder, int levels, size_t& count) {
  if (!is_folder(folder)) return true;
  if (levels == 0) return false;
  add_entry(plan, folder, true);
  for (const std::string& module : folders_in(folder)) {
    if (++count > kMostModules) return false;
    const bool whole = exists(module + "/HEAD");  // else: a name with a slash
    if (whole) {
      add_entry(plan, module, true);
      protect_repository(plan, module);
    }
    if (!protect_modules(plan, whole ? module + "/modules" : module, levels - 1, count)) return false;
  }
  return true;
}

void protect_modules(Plan& plan, const std::string& folder) {
  const size_t entries = plan.entries.size();
  const size_t kept = plan.read_only.size();
  size_t count = 0;
  if (protect_modules(plan, folder, kModuleLevels, count)) return;
  plan.entries.resize(entries);
  plan.read_only.resize(kept);
  plan.read_only.push_back(folder);
  plan.notes.push_back("the repository has too many submodules to protect each: " + folder +
                       " can only be read, so submodules cannot be committed to or updated inside");
}

// What leads from a worktree to its repository, and back. The workspace's own can be written in any case.
void protect_worktrees(Plan& plan, const std::string& folder) {
  if (!is_folder(folder)) return;
  std::vector<std::string> trees = folders_in(folder);
  if (trees.size() > kMostWorktrees) {
    Entry all;
    all.path = folder;
    plan.entries.push_back(all);
    std::erase_if(trees, [&](const std::string& tree) {
      return real(joined(tree, first_line(tree + "/gitdir"))) != plan.workspace + "/.git";
    });
    plan.notes.push_back("the repository has many worktrees: those of other folders can only be read");
  } else {
    add_entry(plan, folder, true);
  }
  for (const std::string& tree : trees) {
    add_entry(plan, tree, true);
    for (const char* name : {"/commondir", "/gitdir", "/config.worktree"})
      if (exists(tree + name)) plan.read_only.push_back(tree + name);
  }
}

void show_repository(Plan& plan, const std::string& folder, bool writable) {
  add_entry(plan, folder, writable);
  if (!writable) return;
  protect_repository(plan, folder);
  protect_named_files(plan, folder);
  protect_modules(plan, folder + "/modules");
  protect_worktrees(plan, folder + "/worktrees");
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

void add_nested_repository(Plan& plan, const std::string& folder) {
  add_entry(plan, folder, true);
  protect_repository(plan, folder);
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
