#include "shell/sentinel.h"

#include "shell/command_line.h"
#include "shell/quoting.h"

namespace ttyward::shell {
namespace {

constexpr size_t kLineBytes = 400;  // before the text goes on in the next line; busybox edits 1023 bytes
constexpr std::string_view kSafe = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789 _-./:@,+=";

// For printf %b in single quotes. \0ooo is its octal form everywhere.
std::string octal(std::string_view text, std::string_view line_break) {
  constexpr char kDigits[] = "01234567";
  std::string out;
  size_t line = 0;
  for (const char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    const size_t before = out.size();
    if (kSafe.find(c) != std::string_view::npos) {
      out += c;
    } else {
      out += "\\0";
      out += kDigits[byte >> 6];
      out += kDigits[(byte >> 3) & 7];
      out += kDigits[byte & 7];
    }
    line += out.size() - before;
    if (line >= kLineBytes) {
      out += line_break;
      line = 0;
    }
  }
  return out;
}

constexpr std::string_view kStart = "\\033]633;C;%s\\007";
constexpr std::string_view kEnd = "\\033]633;D;%s;;1;%s\\007";

// `evaluate` and what follows the text run it, and `status` is what it ended with.
std::string unix_line(std::string_view command, const std::string& nonce, std::string_view evaluate,
                      std::string_view after, std::string_view status) {
  // The nonce in two words: the echo never shows it whole.
  const std::string word = nonce.substr(0, 8) + "''" + nonce.substr(8);
  std::string line = " printf '";
  line.append(kStart).append("' ").append(word).append("; ").append(evaluate);
  line.append(octal(command, "'\\\r'")).append(after).append("; printf '").append(kEnd).append("' ");
  return line.append(status).append(" ").append(word).append("\r");
}

std::string posix(std::string_view command, const std::string& nonce) {
  return unix_line(command, nonce, "eval \"$(printf %b '", "')\"", "\"$?\"");
}

std::string fish(std::string_view command, const std::string& nonce) {
  return unix_line(command, nonce, "eval (printf %b '", "' | string collect -N)", "$status");
}

std::string powershell(std::string_view command, const std::string& nonce) {
  const std::string word = "('" + nonce.substr(0, 8) + "'+'" + nonce.substr(8) + "')";
  const std::string begin = "\"$([char]27)]633;C;{0}$([char]7)\"";
  const std::string end = "\"$([char]27)]633;D;{1};;1;{0}$([char]7)\"";
  return "[Console]::Write(" + begin + " -f " + word + "); $LASTEXITCODE = 0; Invoke-Expression " +
         quote_powershell(command) +
         "; $s = if ($?) {0} elseif ($LASTEXITCODE) {$LASTEXITCODE} else {1}; [Console]::Write(" + end +
         " -f " + word + ", $s)\r";
}

}  // namespace

base::Result<Sentinel> make_sentinel(std::string_view command, std::string_view nonce, Dialect dialect) {
  if (auto checked = check_command_text(command); !checked) return tl::unexpected(checked.error());
  const std::string word(nonce);
  switch (dialect) {
    case Dialect::Posix:
      return Sentinel{posix(command, word)};
    case Dialect::Fish:
      return Sentinel{fish(command, word)};
    case Dialect::PowerShell:
      return Sentinel{powershell(command, word)};
    case Dialect::Cmd:
      break;
  }
  return base::fail(base::ErrorCode::Unsupported,
                    "cmd.exe has no way to mark a command's end; run it as: cmd /c COMMAND");
}

}  // namespace ttyward::shell
