// The little of fish that it reads as everybody would: plain commands in lists and pipelines.
#include <algorithm>
#include <array>

#include "syntax/parser.h"

namespace ttyward::syntax {
namespace {

constexpr auto kFishWords = std::to_array<std::string_view>(
    {"and",    "begin", "break", "builtin",  "case", "command", "continue", "else",
     "end",    "exec",  "for",   "function", "if",   "not",     "or",       "return",
     "switch", "time",  "while", "!",        "eval", "source",  "."});

bool is_fish_bare(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
         std::string_view("_@%+:,./=-").find(c) != std::string_view::npos ||
         static_cast<unsigned char>(c) >= 0x80;
}

}  // namespace

bool Parser::fish_program(List& out) {
  out.span.begin = position();
  const auto blanks = [&](bool lines) {
    while (peek() == ' ' || peek() == '\t' || (lines && (peek() == '\n' || peek() == ';')))
      take(1, peek() == '\n' ? ByteRole::Newline : peek() == ';' ? ByteRole::Operator : ByteRole::Gap);
  };
  blanks(false);
  while (peek() == '\n') take(1, ByteRole::Newline);
  blanks(false);
  while (!at_end()) {
    AndOr& item = out.items.emplace_back();
    item.span.begin = position();
    for (;;) {
      Pipeline& pipe = item.pipelines.emplace_back();
      pipe.span.begin = position();
      for (;;) {
        if (!fish_command(pipe.commands.emplace_back())) return false;
        if (peek() != '|' || peek(1) == '|') break;
        take(1, ByteRole::Operator);
        pipe.with_stderr.push_back(false);
        blanks(false);
      }
      pipe.span.end = position();
      const bool conjunction = starts_with("&&");
      if (!conjunction && !starts_with("||")) break;
      item.by_or.push_back(!conjunction);
      take(2, ByteRole::Operator);
      blanks(false);
    }
    item.span.end = position();
    if (!at_end() && peek() != '\n' && peek() != ';') return refuse("an operator that is not understood");
    blanks(true);
  }
  out.span.end = position();
  return true;
}

bool Parser::fish_command(Command& out) {
  out.span.begin = position();
  for (;;) {
    while (peek() == ' ' || peek() == '\t') take(1, ByteRole::Gap);
    const char c = peek();
    if (at_end() || c == '\n' || c == ';' || c == '|' || c == '&') break;
    if (c == '<' || c == '>' || ((c == '1' || c == '2') && peek(1) == '>')) {
      if (!fish_redirect(out)) return false;
      continue;
    }
    if (!fish_word(out.words.emplace_back())) return false;
  }
  out.span.end = position();
  if (out.words.empty()) return refuse("a command is missing");
  const Word& first = out.words.front();
  const bool bare = first.parts.size() == 1 && first.parts[0].quoting == Quoting::None;
  if (!bare) return refuse("a command name in quotes");
  const std::string& name = first.parts[0].text;
  if (std::find(kFishWords.begin(), kFishWords.end(), name) != kFishWords.end() ||
      name.find('=') != std::string::npos)
    return refuse("'" + name + "' is not understood for fish");
  return true;
}

bool Parser::fish_word(Word& out) {
  out.span.begin = position();
  while (!ends_word(peek())) {
    const char c = peek();
    const size_t from = at_;
    if (c == '\'' || c == '"') {
      const size_t close = text_.find(c, at_ + 1);
      if (close == std::string_view::npos) return refuse("a quote that is not closed");
      const std::string_view inside = slice(from + 1, close);
      if (inside.find_first_of(c == '"' ? "\\$" : "\\") != std::string_view::npos)
        return refuse("an escape or variable inside quotes, which fish reads in its own way");
      take(close + 1 - at_, ByteRole::Word);
      add_text(out.parts, c == '"' ? Quoting::Double : Quoting::Single, from, at_, inside);
    } else if (is_fish_bare(c) || (c == '~' && at_ == out.span.begin)) {
      take(1, ByteRole::Word);
      add_text(out.parts, Quoting::None, from, at_, slice(from, at_));
    } else {
      return refuse("a character that fish reads in its own way");
    }
  }
  out.span.end = position();
  if (out.parts.empty()) return refuse("a character that fish reads in its own way");
  return true;
}

bool Parser::fish_redirect(Command& out) {
  Redirect& added = out.redirects.emplace_back();
  added.span.begin = position();
  if (peek() != '<' && peek() != '>') {
    added.fd = peek() - '0';
    take(1, ByteRole::Operator);
  }
  added.input = peek() == '<';
  if (starts_with(">&") && added.fd == 2 && peek(2) == '1') {
    added.op = RedirectOp::Duplicate;
    added.target_fd = 1;
    take(3, ByteRole::Operator);
    if (!ends_word(peek())) return refuse("text directly after a descriptor");
    added.span.end = position();
    return true;
  }
  const bool append = starts_with(">>");
  added.op = append ? RedirectOp::Append : added.input ? RedirectOp::Read : RedirectOp::Write;
  take(append ? 2 : 1, ByteRole::Operator);
  while (peek() == ' ') take(1, ByteRole::Gap);
  if (ends_word(peek())) return refuse("a redirection that is not understood");
  if (!fish_word(added.target)) return false;
  added.span.end = position();
  return true;
}

}  // namespace ttyward::syntax
