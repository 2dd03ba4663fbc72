#include "engine/quiet_line.h"

#include <algorithm>
#include <string>

#include "syntax/parse.h"

namespace ttyward::engine {
namespace {

constexpr size_t kLongestQuietLine = 4096;

// What bash itself does when it meets the name. Of these only the first list leaves the shell as it was.
constexpr std::string_view kQuietBuiltins[] = {":",    "[",   "cd",   "echo", "false", "help", "jobs",
                                               "kill", "pwd", "test", "true", "type",  "times"};
constexpr std::string_view kBuiltins[] = {
    ".",        "alias",   "bg",       "bind",    "break",   "builtin", "caller",    "command",  "compgen",
    "complete", "compopt", "continue", "declare", "dirs",    "disown",  "enable",    "eval",     "exec",
    "exit",     "export",  "fc",       "fg",      "getopts", "hash",    "history",   "let",      "local",
    "logout",   "mapfile", "popd",     "printf",  "pushd",   "read",    "readarray", "readonly", "return",
    "set",      "shift",   "shopt",    "source",  "suspend", "trap",    "typeset",   "ulimit",   "umask",
    "unalias",  "unset",   "wait",     "coproc",  "select",  "time",    "function"};

template <size_t N>
bool lists(const std::string_view (&names)[N], std::string_view name) {
  return std::find(std::begin(names), std::end(names), name) != std::end(names);
}

bool quiet(const syntax::Word& word);

bool quiet(const syntax::Part& part) {
  switch (part.kind) {
    case syntax::PartKind::Text:
    case syntax::PartKind::Command:  // in a shell of its own
    case syntax::PartKind::Process:
      return true;
    case syntax::PartKind::Parameter: {
      const syntax::Expansion& expansion = *part.expansion;
      return expansion.op == syntax::ParameterOp::None || expansion.op == syntax::ParameterOp::Length;
    }
    case syntax::PartKind::Arithmetic:  // may assign
      return false;
  }
  return false;
}

bool quiet(const syntax::Word& word) {
  return !word.array && std::all_of(word.parts.begin(), word.parts.end(),
                                    [](const syntax::Part& part) { return quiet(part); });
}

// Constant and plain: what it names is what runs.
std::string_view plain_name(const syntax::Word& word) {
  if (word.parts.size() != 1 || word.parts[0].kind != syntax::PartKind::Text || word.continued) return {};
  const std::string& name = word.parts[0].text;
  const auto odd = [](char c) {
    return !(syntax::is_name_char(c) || std::string_view("./+-:[@").find(c) != std::string_view::npos);
  };
  return std::any_of(name.begin(), name.end(), odd) ? std::string_view() : std::string_view(name);
}

bool quiet(const syntax::Command& command, const shell::ReadingState& reading) {
  if (command.kind != syntax::CommandKind::Simple || command.words.empty() || !command.assignments.empty())
    return false;
  const std::string_view name = plain_name(command.words.front());
  if (name.empty() || lists(kBuiltins, name) || name.starts_with("__ttyward")) return false;
  if (reading.has_alias(name) || reading.has_function(name)) return false;
  const bool builtin = lists(kQuietBuiltins, name);
  if (!builtin && name.find_first_of("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ") == name.npos)
    return false;
  const auto redirect_is_quiet = [](const syntax::Redirect& redirect) {
    return quiet(redirect.target) && (!redirect.here || quiet(redirect.here->content));
  };
  return std::all_of(command.words.begin(), command.words.end(),
                     [](const syntax::Word& word) { return quiet(word); }) &&
         std::all_of(command.redirects.begin(), command.redirects.end(), redirect_is_quiet);
}

}  // namespace

bool is_quiet_line(std::string_view line, const shell::ReadingState& reading) {
  if (!reading.known || reading.truncated || reading.kind != shell::ShellKind::Bash ||
      line.size() > kLongestQuietLine)
    return false;
  // Its lines after the first do not begin with a blank, so bash puts them into its history.
  if (line.find('\n') != line.npos) return false;
  const auto list = syntax::parse(line, {syntax::Dialect::Bash, syntax::Manner::Typed});
  if (!list) return false;
  for (const syntax::AndOr& item : list->items) {
    for (const syntax::Pipeline& pipeline : item.pipelines) {
      for (const syntax::Command& command : pipeline.commands) {
        if (!quiet(command, reading)) return false;
      }
    }
  }
  return !list->items.empty();
}

}  // namespace ttyward::engine
