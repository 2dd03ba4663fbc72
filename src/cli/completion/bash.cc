#include <fmt/format.h>

#include "cli/completion/completion.h"
#include "shell/quoting.h"

namespace ttyward::cli {
namespace {

// The four tables of the script: one line of a `case` each.
struct Tables {
  std::string walk;     // words before the cursor
  std::string values;   // of the option before the cursor
  std::string options;  // where we are
  std::string words;
};

std::string joined(const std::vector<std::string>& words) {
  std::string out;
  for (const std::string& word : words) out += " " + shell::quote_posix(word);
  return out;
}

std::string completer(Values values, const std::vector<std::string>& choices) {
  switch (values) {
    case Values::Choice:
      return "_ttyward_words \"$cur\"" + joined(choices);
    case Values::Folders:
      return "_ttyward_paths -d \"$cur\"";
    case Values::Files:
      return "_ttyward_paths -f \"$cur\"";
    case Values::Commands:
      return "_ttyward_paths -c \"$cur\"";
    case Values::Terminals:
      return "_ttyward_terminals \"$cur\"";
    default:
      return ":";
  }
}

void add(const Outline& command, const std::string& path, Tables& tables) {
  std::vector<std::string> all;
  for (const OutlineOption& option : command.options) {
    all.insert(all.end(), option.names.begin(), option.names.end());
    if (option.values == Values::None) continue;
    for (const std::string& name : option.names) {
      const std::string key = shell::quote_posix(path + ":" + name);
      tables.walk += fmt::format("      {}) pending=$at:$word ;;\n", key);
      tables.values += fmt::format("      {}) {} ;;\n", key, completer(option.values, option.choices));
    }
  }
  tables.options +=
      fmt::format("      {}) _ttyward_words \"$cur\"{} ;;\n", shell::quote_posix(path), joined(all));
  if (!command.commands.empty()) {
    std::vector<std::string> names;
    names.reserve(command.commands.size());
    for (const Outline& each : command.commands) names.push_back(each.name);
    tables.words +=
        fmt::format("      {}) _ttyward_words \"$cur\"{} ;;\n", shell::quote_posix(path), joined(names));
  } else if (!command.arguments.empty()) {
    const OutlineArgument& argument = command.arguments.front();
    tables.words += fmt::format("      {}) {} ;;\n", shell::quote_posix(path),
                                completer(argument.values, argument.choices));
  }
  for (const Outline& each : command.commands) {
    const std::string below = path.empty() ? each.name : path + " " + each.name;
    tables.walk += fmt::format("      {}) at={} ;;\n", shell::quote_posix(path + ":" + each.name),
                               shell::quote_posix(below));
    add(each, below, tables);
  }
}

}  // namespace

std::string bash_completion(const Outline& program) {
  Tables tables;
  add(program, "", tables);
  return fmt::format(
      R"(# Completion of {0} for bash. To load it: source <({0} completion bash)
_ttyward_words() {{
  local cur=$1 IFS=$'\n'
  shift
  COMPREPLY=($(compgen -W "$*" -- "$cur"))
}}
_ttyward_terminals() {{
  local name
  while IFS= read -r name; do
    [[ $name == "$1"* ]] || continue
    printf -v name %q "$name"
    COMPREPLY+=("$name")
  done < <("${{COMP_WORDS[0]}}" completion terminals 2>/dev/null)
}}
_ttyward_paths() {{
  compopt -o filenames 2>/dev/null
  mapfile -t COMPREPLY < <(compgen "$1" -- "$2")
}}
_ttyward() {{
  local cur=${{COMP_WORDS[COMP_CWORD]}} at= pending= word i
  COMPREPLY=()
  for ((i = 1; i < COMP_CWORD; i++)); do
    word=${{COMP_WORDS[i]}}
    [[ $word == "=" ]] && continue # bash takes --option=value apart
    if [[ -n $pending ]]; then
      pending=
      continue
    fi
    if [[ $word == -- ]]; then # a program of somebody else
      compopt -o default 2>/dev/null
      return
    fi
    case $at:$word in
{1}    esac
  done
  [[ $cur == "=" ]] && cur=
  if [[ -n $pending ]]; then
    case $pending in
{2}    esac
  elif [[ $cur == -* ]]; then
    case $at in
{3}    esac
  else
    case $at in
{4}    esac
  fi
}}
complete -F _ttyward {0}
)",
      program.name, tables.walk, tables.values, tables.options, tables.words);
}

}  // namespace ttyward::cli
