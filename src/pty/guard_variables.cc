#include "pty/guard_variables.h"

#include <array>
#include <charconv>
#include <string_view>
#include <utility>

namespace ttyward::pty {
namespace {

using Pair = std::pair<std::string_view, std::string_view>;

constexpr auto kSet = std::to_array<Pair>({
    {"LESSSECURE", "1"},           // less: no shell, no editor, no files written, no LESSOPEN
    {"SYSTEMD_PAGERSECURE", "1"},  // systemctl, journalctl: the same for their pager
    {"GIT_OPTIONAL_LOCKS", "0"},   // git status writes nothing, so it runs no post-index-change hook
    {"GIT_TERMINAL_PROMPT", "0"},
    {"npm_config_update_notifier", "false"},  // npm ls asks the registry that a project's .npmrc names
});

// Programs that less would start for every file.
constexpr auto kRemoved = std::to_array<std::string_view>({"LESSOPEN", "LESSCLOSE"});

// Settings that win over those of any repository.
constexpr auto kGitSettings = std::to_array<Pair>({
    {"core.fsmonitor", ""},               // a program that git status starts
    {"safe.bareRepository", "explicit"},  // a folder that looks like a repository brings no settings
    {"log.showSignature", "false"},       // git log would start gpg.program
});

size_t number_of(std::string_view text) {
  size_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  return error == std::errc() && end == text.data() + text.size() && value < 1000 ? value : 0;
}

}  // namespace

void add_guard_variables(std::map<std::string, std::string, std::less<>>& variables) {
  for (const std::string_view name : kRemoved) variables.erase(std::string(name));
  for (const auto& [name, value] : kSet) variables.insert_or_assign(std::string(name), std::string(value));
  // The user's own settings of this kind stay in front: git takes the last of each.
  const auto held = variables.find("GIT_CONFIG_COUNT");
  size_t count = held != variables.end() ? number_of(held->second) : 0;
  for (const auto& [key, value] : kGitSettings) {
    const std::string number = std::to_string(count++);
    variables.insert_or_assign("GIT_CONFIG_KEY_" + number, std::string(key));
    variables.insert_or_assign("GIT_CONFIG_VALUE_" + number, std::string(value));
  }
  variables.insert_or_assign("GIT_CONFIG_COUNT", std::to_string(count));
}

}  // namespace ttyward::pty
