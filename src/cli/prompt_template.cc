#include "cli/prompt_template.h"

#include <fmt/format.h>

#include <algorithm>

#include "shell/quoting.h"

namespace ttyward::cli {
namespace {

using base::ErrorCode;
using base::fail;

constexpr std::string_view kArguments = "{{args}}";
constexpr std::string_view kOpen = "!{";

size_t line_of(std::string_view text, size_t at) {
  return 1 +
         static_cast<size_t>(std::count(text.begin(), text.begin() + static_cast<std::ptrdiff_t>(at), '\n'));
}

// The } that closes the { before `from`; npos if none does.
size_t closing_brace(std::string_view text, size_t from) {
  size_t depth = 1;
  for (size_t i = from; i < text.size(); ++i) {
    if (text[i] == '{') ++depth;
    if (text[i] == '}' && --depth == 0) return i;
  }
  return std::string_view::npos;
}

// The word it becomes has its own quotes; inside others they would cancel out and set the rest free.
bool has_quoted_arguments(std::string_view command) {
  char quote = 0;
  for (size_t i = 0; i < command.size(); ++i) {
    if (quote != 0 && command.substr(i).starts_with(kArguments)) return true;
    const char c = command[i];
    if (c == '\\' && quote != '\'') {
      ++i;
    } else if (quote == 0 && (c == '\'' || c == '"' || c == '`')) {
      quote = c;
    } else if (c == quote) {
      quote = 0;
    }
  }
  return false;
}

}  // namespace

base::Result<std::vector<PromptPiece>> parse_prompt(std::string_view text) {
  std::vector<PromptPiece> pieces;
  size_t from = 0;
  while (from < text.size()) {
    const size_t open = std::min(text.find(kOpen, from), text.size());
    if (open > from) {
      pieces.push_back(
          {PromptPiece::Kind::Text, std::string(text.substr(from, open - from)), line_of(text, from)});
    }
    if (open == text.size()) break;
    const size_t begin = open + kOpen.size();
    const size_t end = closing_brace(text, begin);
    const size_t line = line_of(text, open);
    if (end == std::string_view::npos)
      return fail(ErrorCode::InvalidArgument,
                  fmt::format("line {}: this !{{ has no }} that closes it", line));
    const std::string_view command = text.substr(begin, end - begin);
    if (has_quoted_arguments(command)) {
      return fail(ErrorCode::InvalidArgument,
                  fmt::format("line {}: remove the quotes around {{{{args}}}}; it is quoted already", line));
    }
    pieces.push_back({PromptPiece::Kind::Command, std::string(command), line});
    from = end + 1;
  }
  return pieces;
}

std::string fill_arguments(const PromptPiece& piece, std::string_view arguments) {
  const std::string value =
      piece.kind == PromptPiece::Kind::Command ? shell::quote_posix(arguments) : std::string(arguments);
  std::string out;
  size_t from = 0;
  for (;;) {
    const size_t at = piece.text.find(kArguments, from);
    out.append(piece.text, from, at == std::string::npos ? at : at - from);
    if (at == std::string::npos) return out;
    out += value;
    from = at + kArguments.size();
  }
}

}  // namespace ttyward::cli
