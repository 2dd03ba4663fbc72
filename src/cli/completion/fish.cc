#include <fmt/format.h>

#include "cli/completion/completion.h"

namespace ttyward::cli {
namespace {

// fish knows only \\ and \' inside single quotes.
std::string fish_quoted(const std::string& text) {
  std::string out = "'";
  for (const char c : text) {
    if (c == '\'' || c == '\\') out += '\\';
    out += c;
  }
  return out + "'";
}

std::string values(Values kind, const std::vector<std::string>& choices) {
  std::string words;
  switch (kind) {
    case Values::Choice:
      for (const std::string& choice : choices) words += (words.empty() ? "" : " ") + choice;
      return " -a " + fish_quoted(words);
    case Values::Folders:
      return " -a '(__fish_complete_directories)'";
    case Values::Files:
      return " -F";
    case Values::Commands:
      return " -a '(__fish_complete_command)'";
    case Values::Terminals:
      return " -a '(ttyward completion terminals 2>/dev/null)'";
    default:
      return "";
  }
}

void add(const Outline& command, const std::string& program, const std::string& path, std::string& out) {
  const std::string begin = fmt::format("complete -c {} -n ", program);
  const std::string here = fish_quoted((command.commands.empty() ? "__ttyward_at" : "__ttyward_just") + path);
  for (const OutlineOption& option : command.options) {
    out += begin + here;
    for (const std::string& name : option.names)
      out += name.starts_with("--") ? " -l " + name.substr(2) : " -s " + name.substr(1);
    if (option.values != Values::None)
      out += (option.values == Values::Files ? " -r" : " -x") + values(option.values, option.choices);
    out += " -d " + fish_quoted(option.doc) + "\n";
  }
  for (const OutlineArgument& argument : command.arguments) {
    if (argument.values == Values::Text) continue;
    out += begin + here + values(argument.values, argument.choices) + "\n";
  }
  for (const Outline& each : command.commands) {
    out += fmt::format("{}{} -a {} -d {}\n", begin, here, each.name, fish_quoted(each.summary));
    add(each, program, path + " " + each.name, out);
  }
}

}  // namespace

std::string fish_completion(const Outline& program) {
  std::string lines;
  add(program, program.name, "", lines);
  return fmt::format(
      R"(# Completion of {0} for fish. To load it: {0} completion fish | source
function __ttyward_words
    for word in (commandline -opc)[2..-1]
        string match -q -- '-*' $word; or echo -- $word
    end
end
# The command line is at this verb, whatever follows it.
function __ttyward_at
    set -l words (__ttyward_words)
    set -l depth (count $argv)
    test (count $words) -ge $depth; and test "$words[1..$depth]" = "$argv"
end
# It is there, and no word follows yet.
function __ttyward_just
    set -l words (__ttyward_words)
    test "$words" = "$argv"
end
complete -c {0} -f
{1})",
      program.name, lines);
}

}  // namespace ttyward::cli
