#include "engine/shell_reading.h"

#include <algorithm>
#include <array>

#include "policy/reading_change.h"

namespace ttyward::engine {
namespace {

// Options that change what a line, or a pattern in it, means.
constexpr auto kBashOptions =
    std::to_array<std::string_view>({"posix", "keyword", "dotglob", "nocaseglob", "compat31", "compat32",
                                     "compat40", "compat41", "compat42", "compat43", "compat44"});
constexpr auto kZshOptions = std::to_array<std::string_view>(
    {"rcquotes", "globsubst", "shwordsplit", "globdots", "ksharrays", "kshglob", "shglob", "cshjunkiequotes",
     "ignorebraces", "braceccl", "magicequalsubst"});

std::string doubt_about(gate::Language language, const shell::ReadingState& state) {
  if (state.truncated) return "this shell has too many aliases and functions to take into account";
  if (!state.ifs_is_default) return "this shell's IFS was changed";
  if (!state.locale_is_plain()) return "this shell's locale is neither UTF-8 nor C";
  const auto any = [&](const auto& options) {
    return std::find_if(options.begin(), options.end(),
                        [&](std::string_view name) { return state.has_option(name); });
  };
  if (language == gate::Language::Bash) {
    if (const auto found = any(kBashOptions); found != kBashOptions.end())
      return "the option '" + std::string(*found) + "' of this shell changes how lines are read";
    if (!state.has_option("interactive_comments")) return "this shell runs the text after a #";
  }
  if (language == gate::Language::Zsh) {
    if (const auto found = any(kZshOptions); found != kZshOptions.end())
      return "the option '" + std::string(*found) + "' of this shell changes how lines are read";
  }
  return {};
}

// A shell that does not say what it has: what ran in it tells.
std::string doubt_about_silent(const policy::ShellReading& fresh,
                               const std::deque<std::unique_ptr<Command>>& ran) {
  if (ran.empty()) return {};
  const Command& first = *ran.front();
  if (first.submission && *first.submission > 1)
    return "this shell does not report its aliases and functions, and some commands that ran in it are not "
           "known";
  for (const std::unique_ptr<Command>& command : ran) {
    if (!command->sent) continue;
    if (command->by == Owner::User || command->facts.command.empty())
      return "this shell does not report its aliases and functions, and somebody typed into it";
    if (policy::may_change_reading(command->facts.command, fresh))
      return "this shell does not report its aliases and functions, and '" +
             command->facts.command.substr(0, 60) + "' may have changed how it reads lines";
  }
  return {};
}

}  // namespace

policy::ShellReading reading_of(gate::Language language, const shell::ReadingState& state,
                                const std::deque<std::unique_ptr<Command>>& ran) {
  policy::ShellReading reading = gate::reading_of(language);
  if (!state.known) {
    if (reading.doubt.empty()) reading.doubt = doubt_about_silent(reading, ran);
    return reading;
  }
  if (reading.doubt.empty()) reading.doubt = doubt_about(language, state);
  reading.functions = state.functions;
  for (const std::string& name : state.aliases) {
    const auto told = std::find_if(state.alias_values.begin(), state.alias_values.end(),
                                   [&](const auto& one) { return one.first == name; });
    // An alias whose value is not known is not a plain command.
    reading.aliases.emplace_back(name, told == state.alias_values.end() ? std::string() : told->second);
  }
  if (language == gate::Language::Bash && !state.has_option("expand_aliases")) reading.aliases.clear();
  return reading;
}

}  // namespace ttyward::engine
