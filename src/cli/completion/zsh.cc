#include <fmt/format.h>

#include "cli/completion/completion.h"
#include "shell/quoting.h"

namespace ttyward::cli {
namespace {

// Text inside a specification of _arguments, where : [ ] and \ have a meaning.
std::string specified(const std::string& text) {
  std::string out;
  for (const char c : text) {
    if (c == ':' || c == '[' || c == ']' || c == '\\') out += '\\';
    out += c;
  }
  return out;
}

std::string action(Values values, const std::vector<std::string>& choices) {
  std::string words;
  switch (values) {
    case Values::Choice:
      for (const std::string& choice : choices) words += (words.empty() ? "" : " ") + choice;
      return "(" + words + ")";
    case Values::Folders:
      return "_files -/";
    case Values::Files:
      return "_files";
    case Values::Commands:
      return "_command_names -e";
    case Values::Terminals:
      return "_ttyward_terminals";
    default:
      return " ";
  }
}

std::string option_lines(const Outline& command) {
  std::string out;
  for (const OutlineOption& option : command.options) {
    for (const std::string& name : option.names) {
      std::string spec = option.repeatable ? "*" : "";
      spec += name;
      if (option.values != Values::None && name.starts_with("--")) spec += "=";
      spec += "[" + specified(option.doc) + "]";
      if (option.values != Values::None)
        spec += ":" + specified(option.value_name) + ":" + action(option.values, option.choices);
      out += "    " + shell::quote_posix(spec) + " \\\n";
    }
  }
  return out;
}

// One function per command; those with commands of their own hand over to these.
void add(const Outline& command, const std::string& function, std::string& out) {
  for (const Outline& each : command.commands) add(each, function + "_" + each.name, out);
  out += fmt::format("{}() {{\n", function);
  if (command.commands.empty()) {
    out += "  _arguments -s \\\n" + option_lines(command);
    for (const OutlineArgument& argument : command.arguments) {
      out += "    " +
             shell::quote_posix((argument.repeatable ? "*:" : ":") + specified(argument.name) + ":" +
                                action(argument.values, argument.choices)) +
             " \\\n";
    }
    out += "    && return 0\n}\n";
    return;
  }
  std::string described;
  std::string branches;
  for (const Outline& each : command.commands) {
    described += "        " + shell::quote_posix(specified(each.name) + ":" + each.summary) + "\n";
    branches += fmt::format("        {}) {}_{} ;;\n", each.name, function, each.name);
  }
  out += fmt::format(
      "  local curcontext=$curcontext state state_descr line\n"
      "  typeset -A opt_args\n"
      "  _arguments -C \\\n{}"
      "    '1: :->command' \\\n"
      "    '*:: :->rest' && return 0\n"
      "  case $state in\n"
      "    command)\n"
      "      local -a commands=(\n{}      )\n"
      "      _describe -t commands command commands\n"
      "      ;;\n"
      "    rest)\n"
      "      case $words[1] in\n{}      esac\n"
      "      ;;\n"
      "  esac\n}}\n",
      option_lines(command), described, branches);
}

}  // namespace

std::string zsh_completion(const Outline& program) {
  std::string functions;
  add(program, "_ttyward", functions);
  return fmt::format(
      "#compdef {0}\n"
      "# Completion of {0} for zsh. Save it as _{0} in a folder of $fpath, or load it\n"
      "# after compinit: source <({0} completion zsh)\n"
      "_ttyward_terminals() {{\n"
      "  local -a names=(${{(f)\"$(ttyward completion terminals 2>/dev/null)\"}})\n"
      "  compadd -a names\n"
      "}}\n"
      "{1}"
      "if [[ $funcstack[1] == _ttyward ]]; then\n"
      "  _ttyward \"$@\"\n"
      "else\n"
      "  compdef _ttyward {0}\n"
      "fi\n",
      program.name, functions);
}

}  // namespace ttyward::cli
