#include "policy/git_repository.h"

#include <algorithm>
#include <array>

namespace ttyward::policy {
namespace {

constexpr size_t kMaxSettings = 1024UL * 1024;
constexpr size_t kMaxIndex = 32UL * 1024 * 1024;
constexpr size_t kMaxFolders = 64;
constexpr size_t kMaxSubmodules = 64;
constexpr int kMaxNesting = 4;

// What git lfs install --local writes. It runs git-lfs from PATH, nothing from the repository.
constexpr auto kLfsFilters = std::to_array<std::string_view>(
    {"git-lfs clean -- %f", "git-lfs smudge -- %f", "git-lfs smudge --skip -- %f", "git-lfs filter-process",
     "git-lfs filter-process --skip"});

constexpr auto kTruths =
    std::to_array<std::string_view>({"", "true", "false", "yes", "no", "on", "off", "0", "1"});

template <size_t N>
bool in(const std::array<std::string_view, N>& list, std::string_view word) {
  return std::find(list.begin(), list.end(), word) != list.end();
}

std::string resolve(const std::string& folder, std::string_view path) {
  return normalize(path.starts_with("/") ? std::string(path) : folder + "/" + std::string(path));
}

std::string parent(const std::string& path) {
  const size_t slash = path.rfind('/');
  return slash == 0 || slash == std::string::npos ? "/" : path.substr(0, slash);
}

std::string trimmed(std::string text) {
  while (!text.empty() && (text.back() == '\n' || text.back() == '\r' || text.back() == ' ')) text.pop_back();
  return text;
}

struct Repository {
  std::string work_tree;  // the folder that holds .git
  std::string folder;     // .git itself, or what it points to
  std::string common;     // where settings and hooks are; another one for linked work trees
};

class RepositoryLook {
 public:
  RepositoryLook(std::string_view subcommand, GitReach reach, const Place& place)
      : subcommand_(subcommand), reach_(reach), place_(place), files_(*place.files) {}

  RepositoryFinding run(const std::string& from) {
    Repository found;
    if (discover(from, found)) look(found, 0);
    return std::move(out_);
  }

  // False: none there, or a problem was noted.
  bool discover(const std::string& from, Repository& out) {
    std::string folder = normalize(files_.canonical(from));  // git asks the system where it stands
    for (size_t i = 0; i < kMaxFolders; ++i) {
      if (open(folder, out)) return true;
      if (!out_.problem.empty()) return false;
      if (files_.exists(folder + "/HEAD") && files_.exists(folder + "/objects") &&
          files_.exists(folder + "/refs")) {
        problem("git would obey the settings of a folder that looks like a repository", folder);
        return false;
      }
      if (folder == "/") return false;
      folder = parent(folder);
    }
    return false;
  }

 private:
  void problem(std::string what, std::string where) {
    if (!out_.problem.empty()) return;
    out_ = {std::move(what), std::move(where)};
  }

  // The repository whose .git is directly in `folder`.
  bool open(const std::string& folder, Repository& out) {
    const std::string path = (folder == "/" ? "" : folder) + "/.git";
    if (!files_.exists(path)) return false;
    out.work_tree = folder;
    out.folder = path;
    const FileText pointer = files_.read(path, 4096);
    if (pointer.state == FileText::State::Text) {
      if (!pointer.text.starts_with("gitdir:")) return false;
      size_t from = 7;
      while (from < pointer.text.size() && pointer.text[from] == ' ') ++from;
      out.folder = resolve(folder, trimmed(pointer.text.substr(from)));
    }
    out.common = out.folder;
    const FileText common = files_.read(out.folder + "/commondir", 4096);
    if (common.state == FileText::State::Unknown) problem("git's settings cannot be read", out.folder);
    if (common.state == FileText::State::Text) out.common = resolve(out.folder, trimmed(common.text));
    return out_.problem.empty();
  }

  void look(const Repository& repository, int nesting) {
    hooks_ = repository.common + "/hooks";
    settings(repository, repository.common + "/config");
    settings(repository, repository.folder + "/config.worktree");
    if (files_.exists(hooks_ + "/post-index-change"))
      problem("git would run a hook of the repository", hooks_ + "/post-index-change");
    if (reach_ == GitReach::WorkTree && out_.problem.empty()) submodules(repository, nesting);
  }

  void settings(const Repository& repository, const std::string& path) {
    const FileText found = files_.read(path, kMaxSettings);
    if (found.state == FileText::State::Missing) return;
    std::vector<GitSetting> settings;
    if (found.state == FileText::State::Unknown || !read_git_settings(found.text, settings))
      return problem("git's settings are not understood", path);
    for (const GitSetting& setting : settings) judge(repository, path, setting);
  }

  void judge(const Repository& repository, const std::string& path, const GitSetting& setting) {
    const std::string_view section = setting.section;
    const std::string_view key = setting.key;
    if (section == "core" && key == "hookspath") {
      // A relative path starts where hooks run: at the top of the work tree.
      hooks_ = resolve(repository.work_tree, setting.value);
      if (setting.value.starts_with("~")) problem("git would run hooks from elsewhere", path);
    } else if (section == "core" && key == "worktree") {
      const std::string tree = resolve(repository.folder, setting.value);
      if (look_at(tree, "/", place_).zone != Zone::Workspace && !place_.workspace.starts_with(tree + "/"))
        problem("git would work on another folder", tree);
    } else if (section == "alias" && key == subcommand_) {
      problem("git would run what the repository calls '" + setting.key + "'", path);
    } else if (const std::string why = reason(setting); !why.empty()) {
      problem(why, path);
    }
  }

  static std::string reason(const GitSetting& setting) {
    const std::string_view section = setting.section;
    const std::string_view key = setting.key;
    if (section == "include" || section == "includeif") return "git would obey settings from another file";
    if (section == "diff" && (key == "external" || key == "command" || key == "textconv"))
      return "git would run a program that the repository names, to compare files";
    if (section == "filter" && (key == "clean" || key == "smudge" || key == "process") &&
        !in(kLfsFilters, setting.value))
      return "git would run a program that the repository names, to filter files";
    if ((section == "blame" && key == "ignorerevsfile") ||
        (section == "core" && (key == "attributesfile" || key == "excludesfile"))) {
      if (names_secret(setting.value) || setting.value.starts_with("/") ||
          setting.value.find("..") != std::string::npos)
        return "git would read another file and print lines of it";
    }
    if (section == "merge" && key == "driver" && setting.value != "true")
      return "git would run a program that the repository names, to merge files";
    if (section == "core" && key == "fsmonitor" && !in(kTruths, setting.value))
      return "git would run a program that the repository names, to watch files";
    if (section == "hook") return "git would run a hook that the repository names";
    if ((section == "extensions" && key == "partialclone") ||
        (section == "remote" && key == "promisor" && setting.value != "false"))
      return "git would fetch what is missing from another machine";
    if (setting.value.find("%G") != std::string::npos ||
        setting.value.find("%(signature") != std::string::npos)
      return "git would run the program that checks signatures, which the repository can choose";
    return {};
  }

  // Submodules are asked in their own folders, by their own settings.
  void submodules(const Repository& repository, int nesting) {
    const FileText index = files_.read(repository.folder + "/index", kMaxIndex);
    if (index.state == FileText::State::Missing) return;
    std::vector<GitIndexEntry> entries;
    if (index.state == FileText::State::Unknown || !read_git_index(index.text, entries))
      return problem("the list of submodules cannot be read", repository.folder + "/index");
    for (const GitIndexEntry& entry : entries) {
      if (entry.mode != kGitLink) continue;
      Repository inner;
      const std::string folder = resolve(repository.work_tree, entry.path);
      if (!open(folder, inner)) continue;
      if (++submodules_ > kMaxSubmodules || nesting >= kMaxNesting)
        return problem("more submodules than can be checked", folder);
      look(inner, nesting + 1);
      if (!out_.problem.empty()) return;
    }
  }

  std::string_view subcommand_;
  GitReach reach_;
  const Place& place_;
  const FileView& files_;
  RepositoryFinding out_;
  std::string hooks_;
  size_t submodules_ = 0;
};

}  // namespace

RepositoryFinding look_at_repository(const std::string& folder, std::string_view subcommand, GitReach reach,
                                     const Place& place) {
  if (place.files == nullptr) return {};
  return RepositoryLook(subcommand, reach, place).run(folder);
}

bool tracked_files(const std::string& folder, const Place& place, std::vector<GitIndexEntry>& out) {
  if (place.files == nullptr) return false;
  Repository repository;
  RepositoryLook look({}, GitReach::History, place);
  if (!look.discover(folder, repository)) return false;
  const FileText index = place.files->read(repository.folder + "/index", kMaxIndex);
  if (index.state != FileText::State::Text || !read_git_index(index.text, out)) return false;
  for (GitIndexEntry& entry : out) entry.path = repository.work_tree + "/" + entry.path;
  return true;
}

}  // namespace ttyward::policy
