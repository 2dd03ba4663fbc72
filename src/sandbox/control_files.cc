#include "sandbox/control_files.h"

#include <dirent.h>
#include <sys/stat.h>

#include <algorithm>
#include <array>
#include <deque>
#include <memory>
#include <string_view>

#include "sandbox/placeholders.h"
#include "sandbox/profile.h"
#include "sandbox/repository.h"

namespace ttyward::sandbox {
namespace {

// Protected where they exist. Each one that does not would cost an empty folder, and programs ask before they
// use the last four, or have to be told to.
constexpr auto kRarer = std::to_array<std::string_view>(
    {".aider.conf.yml", "opencode.json", ".cline",     ".husky",      ".ttyward",      ".qwen",
     ".amazonq",        ".trae",         ".junie",     ".crush.json", ".goosehints",   ".dir-locals.el",
     ".gitmodules",     ".gitconfig",    ".ripgreprc", ".bashrc",     ".bash_profile", ".profile",
     ".zshrc",          ".zprofile",     ".exrc",      ".nvim.lua",   ".gdbinit",      ".lldbinit"});

// Made by tools in thousands, and not where people work.
constexpr auto kSkipped = std::to_array<std::string_view>({"node_modules", "target", "build", "dist", "out",
                                                           ".venv", "venv", "__pycache__", ".tox", ".cache",
                                                           ".mypy_cache", ".pytest_cache", ".next"});

// The look below the top of a workspace: each folder costs some microseconds.
constexpr size_t kMostFolders = 256;
constexpr size_t kDeepest = 4;
constexpr size_t kMostFound = 128;

template <size_t N>
bool is_among(const std::array<std::string_view, N>& names, std::string_view name) {
  return std::find(names.begin(), names.end(), name) != names.end();
}

bool is_among(const std::vector<std::string>& names, std::string_view name) {
  return std::find(names.begin(), names.end(), name) != names.end();
}

struct Folder {
  std::string path;
  size_t depth = 0;
};

class Look {
 public:
  Look(Plan& plan, const std::vector<std::string>& unprotected) : plan_(plan), unprotected_(unprotected) {}

  // Breadth first, so that what is near the top is found whatever lies deeper.
  void run() {
    waiting_.push_back({plan_.workspace, 0});
    for (size_t seen = 0; !waiting_.empty() && seen < kMostFolders && found_ < kMostFound; ++seen) {
      const Folder folder = std::move(waiting_.front());
      waiting_.pop_front();
      read(folder);
    }
  }

 private:
  struct Close {
    void operator()(DIR* folder) const { ::closedir(folder); }
  };

  void read(const Folder& folder) {
    const std::unique_ptr<DIR, Close> entries(::opendir(folder.path.c_str()));
    if (!entries) return;
    while (const dirent* const entry = ::readdir(entries.get())) {
      const std::string_view name = entry->d_name;
      if (name == "." || name == "..") continue;
      const bool is_folder = entry->d_type == DT_DIR;
      if (!is_folder && entry->d_type != DT_REG) continue;
      if (folder.depth > 0 && take(folder.path, name, is_folder)) continue;
      if (is_folder && folder.depth < kDeepest && name != ".git" && !is_among(kSkipped, name))
        waiting_.push_back({folder.path + "/" + std::string(name), folder.depth + 1});
    }
  }

  bool take(const std::string& folder, std::string_view name, bool is_folder) {
    const std::string path = folder + "/" + std::string(name);
    if (name == ".git") {
      if (is_folder) {
        add_nested_repository(plan_, path);
      } else {
        plan_.read_only.push_back(path);
      }
    } else if (!unprotected_among(name) && (is_among(control_files(), name) || is_among(kRarer, name))) {
      plan_.read_only.push_back(path);
    } else {
      return false;
    }
    ++found_;
    return true;
  }
  bool unprotected_among(std::string_view name) const { return is_among(unprotected_, name); }

  Plan& plan_;
  const std::vector<std::string>& unprotected_;
  std::deque<Folder> waiting_;
  size_t found_ = 0;
};

void protect_in(Plan& plan, const std::string& folder, const std::vector<std::string>& unprotected) {
  for (const std::string& name : control_files())
    if (!is_among(unprotected, name)) plan.read_only.push_back(folder + "/" + name);
  for (const std::string_view name : kRarer) {
    const std::string path = folder + "/" + std::string(name);
    struct stat about{};
    // Not a link: it cannot be protected, and was made by whoever knew what they did.
    if (!is_among(unprotected, name) && ::lstat(path.c_str(), &about) == 0 && !S_ISLNK(about.st_mode))
      plan.read_only.push_back(path);
  }
}

}  // namespace

const std::vector<std::string>& control_files() {
  static const std::vector<std::string> names = {
      ".claude",   ".codex",    ".cursor",   ".gemini",     ".vscode",       ".idea",         ".devcontainer",
      ".envrc",    ".mcp.json", ".windsurf", ".zed",        ".ttyward.toml", ".agents",       ".roo",
      ".continue", ".opencode", ".kiro",     ".clinerules", ".cursorrules",  ".windsurfrules"};
  return names;
}

void remove_left_placeholders(const std::string& workspace, const std::string& directory) {
  for (const std::string& folder : {workspace, directory})
    for (const std::string& name : control_files())
      if (!folder.empty()) Placeholders::remove_left_behind(folder + "/" + name);
  for (const char* name : {"/.git/hooks", "/.git/commondir"})
    Placeholders::remove_left_behind(workspace + name);
}

void protect_control_files(Plan& plan, const std::string& directory,
                           const std::vector<std::string>& unprotected) {
  protect_in(plan, plan.workspace, unprotected);
  if (directory != plan.workspace && is_within(directory, plan.workspace) &&
      !is_within(directory, plan.workspace + "/.git"))
    protect_in(plan, directory, unprotected);
  Look(plan, unprotected).run();
  std::sort(plan.read_only.begin(), plan.read_only.end());
  plan.read_only.erase(std::unique(plan.read_only.begin(), plan.read_only.end()), plan.read_only.end());
}

}  // namespace ttyward::sandbox
