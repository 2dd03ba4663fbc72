// What of a shell's own state changes how it reads a command line: its dialect, aliases, functions and
// options.
//
// The shell reports it before a prompt whenever it changed; between two reports it is what the next line is
// read with. `known` is false until the first report, and for shells that cannot report: whoever judges a
// line must then assume the worst. Values only; the tracker fills it.
#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "shell/shell_kind.h"

namespace ttyward::shell {

struct ReadingState {
  bool known = false;
  ShellKind kind = ShellKind::Other;
  // Sorted. Global and suffix aliases of zsh are among them. Functions of our own integration are not.
  std::vector<std::string> aliases;
  // What aliases stand for, where the shell told it.
  std::vector<std::pair<std::string, std::string>> alias_values;
  std::vector<std::string> functions;
  // The names of all options that are on, as the shell spells them, sorted: for bash those of $SHELLOPTS and
  // $BASHOPTS, for zsh the keys of $options that are "on".
  std::vector<std::string> options;
  bool ifs_is_default = true;  // IFS is blank, tab, line feed (zsh: and NUL)
  std::string locale;          // LC_ALL, else LC_CTYPE, else LANG; empty: none is set
  bool truncated = false;      // there were more names than a report may have: what is missing is not known

  bool has_option(std::string_view name) const;
  bool has_alias(std::string_view name) const;
  bool has_function(std::string_view name) const;
  // Whether the locale reads bytes as UTF-8 or as plain ASCII. Others may take a byte of a character for a
  // quote or a backslash.
  bool locale_is_plain() const;

  bool operator==(const ReadingState&) const = default;
};

}  // namespace ttyward::shell
