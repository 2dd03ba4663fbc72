#include "shell/sentinel.h"

#include <charconv>

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

std::string start_format(SentinelForm form) {
  // The text form's words are split by an empty %s, so that the echo shows something else than the output.
  return form == SentinelForm::Mark ? "\\033]633;C;%s\\007" : "ttyward%s begins\\n";
}

std::string end_format(SentinelForm form) {
  return form == SentinelForm::Mark ? "\\033]633;D;%s;;1;%s\\007" : "\\nttyward%s ends %s\\n";
}

std::string posix(std::string_view command, const std::string& nonce, SentinelForm form) {
  const bool mark = form == SentinelForm::Mark;
  // The nonce in two words: the echo never shows it whole.
  const std::string word = nonce.substr(0, 8) + "''" + nonce.substr(8);
  const std::string status = "\"$?\"";
  return " printf '" + start_format(form) + "' " + (mark ? word : "-" + word) + "; eval \"$(printf %b '" +
         octal(command, "'\\\r'") + "')\"; printf '" + end_format(form) + "' " +
         (mark ? status + " " + word : "-" + word + " " + status) + "\r";
}

std::string fish(std::string_view command, const std::string& nonce, SentinelForm form) {
  const bool mark = form == SentinelForm::Mark;
  const std::string word = nonce.substr(0, 8) + "''" + nonce.substr(8);
  return " printf '" + start_format(form) + "' " + (mark ? word : "-" + word) + "; eval (printf %b '" +
         octal(command, "'\\\r'") + "' | string collect -N); printf '" + end_format(form) + "' " +
         (mark ? "$status " + word : "-" + word + " $status") + "\r";
}

std::string powershell(std::string_view command, const std::string& nonce, SentinelForm form) {
  const bool mark = form == SentinelForm::Mark;
  const std::string word = "('" + nonce.substr(0, 8) + "'+'" + nonce.substr(8) + "')";
  const std::string begin = mark ? "\"$([char]27)]633;C;{0}$([char]7)\"" : "\"ttyward-{0} begins`n\"";
  const std::string end =
      mark ? "\"$([char]27)]633;D;{1};;1;{0}$([char]7)\"" : "\"`nttyward-{0} ends {1}`n\"";
  return "[Console]::Write(" + begin + " -f " + word + "); $LASTEXITCODE = 0; Invoke-Expression " +
         quote_powershell(command) +
         "; $s = if ($?) {0} elseif ($LASTEXITCODE) {$LASTEXITCODE} else {1}; [Console]::Write(" + end +
         " -f " + word + ", $s)\r";
}

}  // namespace

base::Result<Sentinel> make_sentinel(std::string_view command, std::string_view nonce, Dialect dialect,
                                     SentinelForm form) {
  if (auto checked = check_command_text(command); !checked) return tl::unexpected(checked.error());
  const std::string word(nonce);
  switch (dialect) {
    case Dialect::Posix:
      return Sentinel{posix(command, word, form)};
    case Dialect::Fish:
      return Sentinel{fish(command, word, form)};
    case Dialect::PowerShell:
      return Sentinel{powershell(command, word, form)};
    case Dialect::Cmd:
      break;
  }
  return base::fail(base::ErrorCode::Unsupported,
                    "cmd.exe has no way to mark a command's end; run it as: cmd /c COMMAND");
}

TextSentinel::TextSentinel(std::string_view nonce)
    : start_("ttyward-" + std::string(nonce) + " begins"), end_("ttyward-" + std::string(nonce) + " ends ") {}

void TextSentinel::feed(std::string_view bytes) {
  if (finished_) return;
  tail_ += bytes;
  if (!started_) {
    const size_t at = tail_.find(start_);
    const size_t line_end = at == std::string::npos ? at : tail_.find('\n', at);
    if (line_end != std::string::npos) {
      started_ = true;
      output_begin_ = offset_ + line_end + 1;
      tail_.erase(0, line_end + 1);
      offset_ = output_begin_;
    }
  }
  const std::string& wanted = started_ ? end_ : start_;
  const size_t at = tail_.find(wanted);
  if (at == std::string::npos) {
    // The line end before the mark may still be unread along with it.
    const size_t keep = wanted.size() + 2;
    if (tail_.size() > keep) {
      offset_ += tail_.size() - keep;
      tail_.erase(0, tail_.size() - keep);
    }
    return;
  }
  if (!started_) return;
  const char* digits = tail_.data() + at + wanted.size();
  const char* last = tail_.data() + tail_.size();
  const auto [stop, error] = std::from_chars(digits, last, exit_code_);
  if (error != std::errc() || stop == last) return;  // the number may go on in the next read
  finished_ = true;
  size_t end = at;
  // The line end printed before the mark is ours.
  if (end > 0 && tail_[end - 1] == '\n') end--;
  if (end > 0 && tail_[end - 1] == '\r') end--;
  output_end_ = offset_ + end;
}

}  // namespace ttyward::shell
