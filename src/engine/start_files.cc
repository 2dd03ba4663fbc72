#include "engine/start_files.h"

#include <algorithm>
#include <array>
#include <string_view>

#include "shell/shell_kind.h"

namespace ttyward::engine {
namespace {

constexpr size_t kMostBytes = 256 * 1024;
constexpr auto kWords =
    std::to_array<std::string_view>({"flock", "lockfile", "dotlockfile", "ssh-agent", "ssh-add", "keychain",
                                     "gpg-agent", "gpg-connect-agent", "tmux", "screen", "zellij"});

bool in_word(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '-' || c == '_' ||
         c == '.';
}

bool has_word(std::string_view line) {
  const size_t begin = line.find_first_not_of(" \t");
  if (begin == std::string_view::npos || line[begin] == '#') return false;
  for (const std::string_view word : kWords) {
    for (size_t at = line.find(word); at != std::string_view::npos; at = line.find(word, at + 1)) {
      const size_t end = at + word.size();
      const bool begins = at == 0 || !in_word(line[at - 1]);
      const bool ends = end == line.size() || !in_word(line[end]);
      if (begins && ends) return true;
    }
  }
  return false;
}

bool takes_lock(const place::Place& place, const std::string& path) {
  const auto text =
      place::at_once<base::Result<std::string>>([&](auto then) { place.text(path, kMostBytes, then); });
  if (!text) return true;
  if (!*text) return false;  // most of them do not exist
  std::string_view rest = **text;
  while (!rest.empty()) {
    const size_t end = std::min(rest.find('\n'), rest.size());
    if (has_word(rest.substr(0, end))) return true;
    rest.remove_prefix(std::min(end + 1, rest.size()));
  }
  return false;
}

std::string variable(const std::vector<std::string>& environment, const std::string& name) {
  for (const std::string& entry : environment)
    if (entry.starts_with(name + "=")) return entry.substr(name.size() + 1);
  return {};
}

std::vector<std::string> files_of(shell::ShellKind kind, const std::vector<std::string>& environment) {
  const std::string home = variable(environment, "HOME");
  if (home.empty()) return {};
  const auto in_home = [&](std::initializer_list<const char*> names) {
    std::vector<std::string> paths;
    for (const char* name : names) paths.push_back(home + "/" + name);
    return paths;
  };
  const std::string zsh = variable(environment, "ZDOTDIR");
  const std::string xdg = variable(environment, "XDG_CONFIG_HOME");
  switch (kind) {
    case shell::ShellKind::Bash:
      return in_home({".bashrc", ".bash_profile", ".bash_login", ".profile"});
    case shell::ShellKind::Zsh: {
      std::vector<std::string> paths;
      for (const char* name : {".zshenv", ".zprofile", ".zshrc", ".zlogin"})
        paths.push_back((zsh.empty() ? home : zsh) + "/" + name);
      return paths;
    }
    case shell::ShellKind::Fish:
      return {(xdg.empty() ? home + "/.config" : xdg) + "/fish/config.fish"};
    default: {
      std::vector<std::string> paths = in_home({".profile", ".kshrc"});
      if (const std::string env = variable(environment, "ENV"); !env.empty()) paths.push_back(env);
      return paths;
    }
  }
}

}  // namespace

bool start_files_take_locks(const place::Place& place, const std::vector<std::string>& shell,
                            const std::vector<std::string>& environment) {
  const std::vector<std::string> files = files_of(shell::identify_shell(shell).kind, environment);
  return std::any_of(files.begin(), files.end(),
                     [&](const std::string& path) { return takes_lock(place, path); });
}

}  // namespace ttyward::engine
