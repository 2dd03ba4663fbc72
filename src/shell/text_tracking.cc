#include "shell/text_tracking.h"

#include "base/path.h"

namespace ttyward::shell {
namespace {

std::string_view trim(std::string_view text) {
  while (!text.empty() && std::string_view(" \t\r\n").find(text.front()) != std::string_view::npos)
    text.remove_prefix(1);
  while (!text.empty() && std::string_view(" \t\r\n").find(text.back()) != std::string_view::npos)
    text.remove_suffix(1);
  return text;
}

// A word without quotes, or in one pair of them; nullopt if a shell would do more with it.
std::optional<std::string> plain_word(std::string_view text) {
  if (text.size() >= 2 && (text.front() == '\'' || text.front() == '"') && text.back() == text.front()) {
    const std::string_view inside = text.substr(1, text.size() - 2);
    const std::string_view active = text.front() == '\'' ? "'" : "\"$`\\";
    if (inside.find_first_of(active) != std::string_view::npos) return std::nullopt;
    return std::string(inside);
  }
  if (text.find_first_of(" \t\n'\"$`\\;&|<>(){}*?[]!#") != std::string_view::npos) return std::nullopt;
  return std::string(text);
}

// The length of a variable's name at the start of `text` if `=` follows; 0 otherwise.
size_t name_length(std::string_view text) {
  size_t n = 0;
  while (n < text.size() && ((text[n] >= 'A' && text[n] <= 'Z') || (text[n] >= 'a' && text[n] <= 'z') ||
                             text[n] == '_' || (n > 0 && text[n] >= '0' && text[n] <= '9')))
    n++;
  return n < text.size() && text[n] == '=' ? n : 0;
}

}  // namespace

std::optional<std::string> cwd_after(std::string_view command, std::string_view cwd, std::string_view home) {
  command = trim(command);
  if (command == "cd") return home.empty() ? std::nullopt : std::optional(std::string(home));
  if (!command.starts_with("cd ") && !command.starts_with("cd\t")) return std::nullopt;
  command = trim(command.substr(3));
  if (command.starts_with("-- ")) command = trim(command.substr(3));
  const bool quoted = command.starts_with('\'') || command.starts_with('"');
  auto target = plain_word(command);
  if (!target || target->empty() || target->starts_with('-')) return std::nullopt;
  if (!quoted && target->starts_with('~')) {
    if (home.empty() || (target->size() > 1 && (*target)[1] != '/')) return std::nullopt;
    target = std::string(home) + target->substr(1);
  }
  if (!target->starts_with('/')) {
    if (cwd.empty()) return std::nullopt;
    target = std::string(cwd) + "/" + *target;
  }
  return base::normalize_path(*target);
}

Variables assigned_by(std::string_view command) {
  command = trim(command);
  if (command.starts_with("export ")) {
    command = trim(command.substr(7));
  } else if (command.starts_with("set ")) {
    command = trim(command.substr(4));
  } else {
    return {};
  }
  const size_t n = name_length(command);
  if (n == 0) return {};
  const auto value = plain_word(command.substr(n + 1));
  if (!value) return {};
  return {{std::string(command.substr(0, n)), *value}};
}

}  // namespace ttyward::shell
