#include "sandbox/home.h"

#include <limits.h>
#include <sys/stat.h>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <string_view>

#include "base/path.h"

namespace ttyward::sandbox {
namespace {

using Access = Entry::Access;

// Tools that people install for themselves, and files by which programs are set up that hold no secrets.
constexpr auto kTools = std::to_array<const char*>({".pyenv",
                                                    ".rbenv",
                                                    ".nvm",
                                                    ".fnm",
                                                    ".volta",
                                                    ".asdf",
                                                    ".sdkman",
                                                    ".rustup",
                                                    ".cargo/bin",
                                                    ".cargo/env",
                                                    "go/bin",
                                                    ".local/bin",
                                                    ".local/lib",
                                                    ".local/pipx",
                                                    ".local/share/mise",
                                                    ".local/share/pnpm",
                                                    ".local/share/uv",
                                                    ".local/share/virtualenvs",
                                                    ".local/share/fnm",
                                                    ".local/share/pipx",
                                                    ".deno",
                                                    ".bun",
                                                    ".linuxbrew",
                                                    "miniconda3",
                                                    "anaconda3",
                                                    ".terminfo",
                                                    ".gitconfig",
                                                    ".gitignore",
                                                    ".gitignore_global",
                                                    ".config/git/config",
                                                    ".config/git/ignore",
                                                    ".config/git/attributes",
                                                    ".inputrc",
                                                    ".vimrc",
                                                    ".vim",
                                                    ".config/nvim",
                                                    ".nanorc",
                                                    ".editorconfig",
                                                    ".clang-format",
                                                    ".tool-versions"});

// What package managers and compilers keep. Writes go to memory and are gone at the end.
constexpr auto kCaches = std::to_array<const char*>({".npm",
                                                     ".cache/pip",
                                                     ".cache/uv",
                                                     ".cache/go-build",
                                                     ".cache/yarn",
                                                     ".cache/pnpm",
                                                     ".cache/node",
                                                     ".cache/typescript",
                                                     ".cache/ms-playwright",
                                                     ".cache/ccache",
                                                     ".ccache",
                                                     ".cargo/registry",
                                                     ".cargo/git",
                                                     "go/pkg",
                                                     ".m2/repository",
                                                     ".gradle/caches",
                                                     ".gradle/wrapper",
                                                     ".ivy2/cache",
                                                     ".nuget/packages",
                                                     ".composer/cache",
                                                     ".gem",
                                                     ".bundle/cache",
                                                     ".cache/bazel",
                                                     ".cache/pre-commit",
                                                     ".cache/huggingface/hub",
                                                     ".cache/coursier"});

// Never, whatever else is shown: a PATH may name the folder above.
constexpr auto kKeys = std::to_array<const char*>({".ssh",
                                                   ".gnupg",
                                                   ".aws",
                                                   ".azure",
                                                   ".config/gcloud",
                                                   ".config/gh",
                                                   ".kube",
                                                   ".docker",
                                                   ".netrc",
                                                   ".npmrc",
                                                   ".pypirc",
                                                   ".git-credentials",
                                                   ".config/git/credentials",
                                                   ".cargo/credentials",
                                                   ".cargo/credentials.toml",
                                                   ".m2/settings.xml",
                                                   ".gradle/gradle.properties",
                                                   ".gem/credentials",
                                                   ".bundle/config",
                                                   ".composer/auth.json",
                                                   ".local/share/keyrings",
                                                   ".password-store",
                                                   ".mozilla",
                                                   ".config/google-chrome",
                                                   ".claude",
                                                   ".codex",
                                                   ".gemini",
                                                   ".pgpass",
                                                   ".my.cnf",
                                                   ".bash_history",
                                                   ".zsh_history",
                                                   ".python_history",
                                                   ".node_repl_history"});

// Variables by which people keep such folders elsewhere. Of those with credentials in them only parts.
struct Elsewhere {
  std::string_view variable;
  const char* part;  // empty: all of it
  Access access;
};
constexpr auto kElsewhere = std::to_array<Elsewhere>({{"CARGO_HOME", "/bin", Access::Read},
                                                      {"CARGO_HOME", "/env", Access::Read},
                                                      {"CARGO_HOME", "/registry", Access::Scratch},
                                                      {"CARGO_HOME", "/git", Access::Scratch},
                                                      {"RUSTUP_HOME", "", Access::Read},
                                                      {"GOROOT", "", Access::Read},
                                                      {"GOPATH", "/bin", Access::Read},
                                                      {"GOPATH", "/pkg", Access::Scratch},
                                                      {"GRADLE_HOME", "", Access::Read},
                                                      {"GRADLE_USER_HOME", "/caches", Access::Scratch},
                                                      {"GRADLE_USER_HOME", "/wrapper", Access::Scratch},
                                                      {"M2_HOME", "", Access::Read},
                                                      {"JAVA_HOME", "", Access::Read},
                                                      {"JDK_HOME", "", Access::Read},
                                                      {"ANDROID_HOME", "", Access::Read},
                                                      {"ANDROID_SDK_ROOT", "", Access::Read},
                                                      {"DOTNET_ROOT", "", Access::Read},
                                                      {"FLUTTER_ROOT", "", Access::Read},
                                                      {"NVM_DIR", "", Access::Read},
                                                      {"FNM_DIR", "", Access::Read},
                                                      {"VOLTA_HOME", "", Access::Read},
                                                      {"PNPM_HOME", "", Access::Read},
                                                      {"PYENV_ROOT", "", Access::Read},
                                                      {"RBENV_ROOT", "", Access::Read},
                                                      {"SDKMAN_DIR", "", Access::Read},
                                                      {"ASDF_DIR", "", Access::Read},
                                                      {"ASDF_DATA_DIR", "", Access::Read},
                                                      {"MISE_DATA_DIR", "", Access::Read},
                                                      {"VIRTUAL_ENV", "", Access::Read},
                                                      {"CONDA_PREFIX", "", Access::Read},
                                                      {"DENO_DIR", "", Access::Scratch}});

// Links are skipped when the entry is opened: they could lead to what nobody listed.
void show(Plan& plan, const std::string& path, Access access) {
  Entry entry;
  entry.path = path;
  entry.access = access;
  plan.entries.push_back(std::move(entry));
}

std::string value_of(const std::vector<std::string>& variables, std::string_view name) {
  for (const std::string& variable : variables)
    if (variable.size() > name.size() && variable.starts_with(name) && variable[name.size()] == '=')
      return variable.substr(name.size() + 1);
  return {};
}

// A folder of tools or a cache, outside of homes: not one in which other things lie as well, sockets above
// all.
bool is_for_tools(const Plan& plan, const std::string& folder) {
  if (!folder.starts_with("/") || std::count(folder.begin(), folder.end(), '/') < 2) return false;
  for (const char* other : {"/proc", "/sys", "/dev", "/run", "/var/run", "/root", "/boot"})
    if (is_within(folder, other)) return false;
  for (const char* whole : {"/var/tmp", "/var/lib", "/var/cache", "/var/log"})
    if (folder == whole) return false;
  // Whose home this is nobody says, and there are keys in it.
  if (is_within(folder, "/home") && (plan.home.empty() || !is_within(folder, plan.home))) return false;
  if (!plan.home.empty() && is_within(plan.home, folder)) return false;
  if (is_within(plan.workspace, folder)) return false;
  return std::none_of(plan.hidden.begin(), plan.hidden.end(), [&](const std::string& hidden) {
    return is_within(folder, hidden) || is_within(hidden, folder);
  });
}

std::string real_folder(const std::string& path) {
  char resolved[PATH_MAX];
  struct stat about{};
  if (!path.starts_with("/") || ::realpath(path.c_str(), resolved) == nullptr) return {};
  return ::stat(resolved, &about) == 0 && S_ISDIR(about.st_mode) ? std::string(resolved) : std::string();
}

void show_tools(Plan& plan, const std::string& folder, Access access) {
  if (!folder.empty() && !plan.shows(folder) && is_for_tools(plan, folder)) show(plan, folder, access);
}

}  // namespace

void add_tools_elsewhere(Plan& plan, const std::string& path, const std::vector<std::string>& variables) {
  for (const Elsewhere& each : kElsewhere) {
    const std::string folder = value_of(variables, each.variable);
    if (!folder.empty()) show_tools(plan, real_folder(folder + each.part), each.access);
  }
  // The caches that are in ~/.cache otherwise.
  const std::string caches = value_of(variables, "XDG_CACHE_HOME");
  for (const std::string_view cache : kCaches) {
    constexpr std::string_view kUsual = ".cache";
    if (!caches.empty() && cache.starts_with(kUsual))
      show_tools(plan, real_folder(caches + std::string(cache.substr(kUsual.size()))), Access::Scratch);
  }
  for (std::string_view rest = path; !rest.empty();) {
    const size_t end = std::min(rest.find(':'), rest.size());
    const std::string folder = real_folder(std::string(rest.substr(0, end)));
    rest.remove_prefix(std::min(end + 1, rest.size()));
    if (folder.empty() || plan.shows(folder) || (!plan.home.empty() && is_within(folder, plan.home)))
      continue;
    show_tools(plan, folder, Access::Read);
    // What the programs of a folder "bin" need lies beside it.
    if (!folder.ends_with("/bin") || !plan.shows(folder)) continue;
    const std::string above = folder.substr(0, folder.rfind('/'));
    for (const char* beside : {"/lib", "/lib64", "/libexec", "/share", "/include"})
      show_tools(plan, real_folder(above + beside), Access::Read);
  }
}

void add_home(Plan& plan, const std::string& path) {
  if (plan.home.empty()) return;
  for (const char* tool : kTools) show(plan, plan.home + "/" + tool, Access::Read);
  for (const char* cache : kCaches) show(plan, plan.home + "/" + cache, Access::Scratch);
  for (std::string_view rest = path; !rest.empty();) {
    const size_t end = std::min(rest.find(':'), rest.size());
    std::string folder = base::normalize_path(rest.substr(0, end));
    if (!plan.home_link.empty() && is_within(folder, plan.home_link))
      folder = plan.home + folder.substr(plan.home_link.size());
    rest.remove_prefix(std::min(end + 1, rest.size()));
    const bool inside = is_within(folder, plan.home) && folder != plan.home;
    if (inside && !plan.shows(folder)) show(plan, folder, Access::Read);
  }
  for (const char* key : kKeys) plan.hidden.push_back(plan.home + "/" + key);
}

}  // namespace ttyward::sandbox
