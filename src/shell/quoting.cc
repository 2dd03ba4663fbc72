#include "shell/quoting.h"

namespace ttyward::shell {
namespace {

constexpr std::string_view kPlain = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-./:@,+";

// Nothing any shell here would read as more than text. A leading ~ or = is special, a
// leading - only to the program; + and @ and , are special first in PowerShell or fish.
bool is_plain(std::string_view text) {
  return !text.empty() && text.find_first_not_of(kPlain) == std::string_view::npos &&
         text.find_first_of("@,+:", 0) != 0;
}

}  // namespace

std::string quote_posix(std::string_view argument) {
  if (is_plain(argument)) return std::string(argument);
  std::string out = "'";
  for (const char c : argument) {
    if (c == '\'') {
      out += "'\\''";
    } else {
      out += c;
    }
  }
  return out + "'";
}

std::string quote_fish(std::string_view argument) {
  if (is_plain(argument)) return std::string(argument);
  std::string out = "'";
  for (const char c : argument) {
    if (c == '\'' || c == '\\') out += '\\';
    out += c;
  }
  return out + "'";
}

std::string quote_powershell(std::string_view argument) {
  // The typographic quotes U+2018 to U+201B end a string there too.
  std::string out = "'";
  for (size_t i = 0; i < argument.size(); i++) {
    const std::string_view rest = argument.substr(i);
    if (rest.starts_with('\'')) {
      out += "''";
    } else if (rest.size() >= 3 && rest[0] == '\xE2' && rest[1] == '\x80' && rest[2] >= '\x98' &&
               rest[2] <= '\x9B') {
      out += rest.substr(0, 3);
      out += rest.substr(0, 3);
      i += 2;
    } else {
      out += argument[i];
    }
  }
  return out + "'";
}

base::Result<std::string> quote_cmd(std::string_view argument) {
  if (argument.find_first_of(std::string_view("\0\r\n", 3)) != std::string_view::npos)
    return base::fail(base::ErrorCode::InvalidArgument,
                      "cmd.exe cannot take a line end or NUL inside an argument");
  // The C runtime's rules first: backslashes count only before a quote.
  std::string quoted = "\"";
  size_t backslashes = 0;
  for (const char c : argument) {
    if (c == '"') quoted.append(backslashes + 1, '\\');
    backslashes = c == '\\' ? backslashes + 1 : 0;
    quoted += c;
  }
  quoted.append(backslashes, '\\');
  quoted += '"';
  // Then cmd's own: with every special character behind a caret it sees no quotes at all.
  std::string out;
  for (const char c : quoted) {
    if (std::string_view("()%!^\"<>&|").find(c) != std::string_view::npos) out += '^';
    out += c;
  }
  return out;
}

base::Result<std::string> quote(std::string_view argument, Dialect dialect) {
  if (argument.find('\0') != std::string_view::npos)
    return base::fail(base::ErrorCode::InvalidArgument, "an argument cannot contain NUL");
  switch (dialect) {
    case Dialect::Posix:
      return quote_posix(argument);
    case Dialect::Fish:
      return quote_fish(argument);
    case Dialect::PowerShell:
      return quote_powershell(argument);
    case Dialect::Cmd:
      return quote_cmd(argument);
  }
  return quote_posix(argument);
}

base::Result<std::string> quote_command(const std::vector<std::string>& argv, Dialect dialect) {
  std::string line;
  // PowerShell takes a quoted first word for a string, not for a command.
  if (dialect == Dialect::PowerShell) line = "& ";
  for (size_t i = 0; i < argv.size(); i++) {
    auto word = quote(argv[i], dialect);
    if (!word) return word;
    if (i > 0) line += ' ';
    line += *word;
  }
  return line;
}

}  // namespace ttyward::shell
