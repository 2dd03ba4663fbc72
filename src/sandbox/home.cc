#include "sandbox/home.h"

#include <algorithm>
#include <array>
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

// Links are skipped when the entry is opened: they could lead to what nobody listed.
void show(Plan& plan, const std::string& path, Access access) {
  Entry entry;
  entry.path = path;
  entry.access = access;
  plan.entries.push_back(std::move(entry));
}

}  // namespace

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
