// Redirections and here-documents.
#include <algorithm>

#include "syntax/parser.h"

namespace ttyward::syntax {

bool Parser::at_redirect() const {
  const char c = peek();
  if (c == '<' || c == '>') return peek(1) != '(';
  if (c == '&') return peek(1) == '>';
  if (c < '0' || c > '9') return false;
  const char next = peek(1);
  return (next == '<' || next == '>') && peek(2) != '(';
}

bool Parser::redirect(Command& out) {
  Redirect added;
  added.span.begin = position();
  if (peek() == '&') {
    if (!bash()) return refuse("'&>' is read differently by different shells");
    added.op = starts_with("&>>") ? RedirectOp::BothAppend : RedirectOp::Both;
    take(added.op == RedirectOp::BothAppend ? 3 : 2, ByteRole::Operator);
    if (peek() == '&' || peek() == '|' || peek() == '!')
      return refuse("a redirection that is not understood");
    if (!redirect_target(added)) return false;
    out.redirects.push_back(std::move(added));
    return true;
  }
  if (peek() != '<' && peek() != '>') {
    added.fd = peek() - '0';
    take(1, ByteRole::Operator);
  }
  added.input = peek() == '<';
  if (starts_with("<<<")) {
    if (posix()) return refuse("'<<<' is read differently by different shells");
    added.op = RedirectOp::HereString;
    take(3, ByteRole::Operator);
    if (!redirect_target(added)) return false;
  } else if (starts_with("<<")) {
    added.op = RedirectOp::HereDoc;
    added.here = std::make_unique<HereDoc>();
    take(2, ByteRole::Operator);
    if (peek() == '-') {
      added.here->strip_tabs = true;
      take(1, ByteRole::Operator);
    }
    if (!heredoc_delimiter(*added.here)) return false;
    pending_.push_back(added.here.get());
    added.span.end = position();
  } else if (starts_with(">&") || starts_with("<&")) {
    take(2, ByteRole::Operator);
    const char target = peek();
    if (bash() && added.fd < 0 && !added.input && (target == ' ' || target == '/' || is_name_start(target))) {
      // >& file: what &> is. A word that is a number would be a descriptor.
      added.op = RedirectOp::Both;
      if (!redirect_target(added)) return false;
      const Part& first = added.target.parts.front();
      if (first.kind != PartKind::Text || first.quoting != Quoting::None || first.text[0] == '-' ||
          text_[at_ - 1] == '-' || (first.text[0] >= '0' && first.text[0] <= '9'))
        return refuse("a redirection to a descriptor that is not one digit");
      out.redirects.push_back(std::move(added));
      return true;
    }
    if (target == '-') {
      added.op = RedirectOp::Close;
    } else if (target >= '0' && target <= '9') {
      added.op = RedirectOp::Duplicate;
      added.target_fd = target - '0';
    } else {
      return refuse("a redirection to a descriptor that is not one digit");
    }
    take(1, ByteRole::Operator);
    if (!ends_word(peek()) || peek() == '<' || peek() == '>' || peek() == '(')
      return refuse("text directly after a descriptor");
    added.span.end = position();
  } else {
    const bool append = starts_with(">>");
    const bool both_ways = starts_with("<>");
    added.op = append          ? RedirectOp::Append
               : both_ways     ? RedirectOp::ReadWrite
               : peek() == '<' ? RedirectOp::Read
                               : RedirectOp::Write;
    take(append || both_ways ? 2 : 1, ByteRole::Operator);
    if (std::string_view("|&;!<>").find(peek()) != std::string_view::npos && !at_end() &&
        !((peek() == '<' || peek() == '>') && peek(1) == '('))
      return refuse("a redirection that is not understood");
    if (zsh() && added.input && peek() != ' ' && (peek() == '-' || (peek() >= '0' && peek() <= '9')))
      return refuse("a range of numbers to zsh");
    if (!redirect_target(added)) return false;
  }
  out.redirects.push_back(std::move(added));
  return true;
}

bool Parser::redirect_target(Redirect& out) {
  if (!gap()) return false;
  if (at_end() || peek() == '\n') return refuse("a redirection without a file");
  const bool process = (peek() == '<' || peek() == '>') && peek(1) == '(';
  if (ends_word(peek()) && !process) return refuse("a redirection without a file");
  if (!word(out.target, Context::Argument)) return false;
  out.span.end = position();
  return true;
}

// A plain word, or one quoted as a whole.
bool Parser::heredoc_delimiter(HereDoc& out) {
  if (in_substitution_ > 1) return refuse("a here-document in a substitution inside a substitution");
  while (peek() == ' ' || peek() == '\t') take(1, ByteRole::Gap);
  const char quote = peek() == '\'' || peek() == '"' ? peek() : '\0';
  if (quote != '\0') take(1, ByteRole::Word);
  size_t stop = at_;
  while (stop < end_ && (is_name_char(text_[stop]) || (text_[stop] == '-' && stop > at_))) ++stop;
  if (stop == at_ || !is_name_start(peek()))
    return refuse("a here-document whose delimiter is not a plain word");
  out.delimiter = std::string(slice(at_, stop));
  take(stop - at_, ByteRole::Word);
  if (quote != '\0') {
    if (peek() != quote) return refuse("a here-document whose delimiter is not a plain word");
    take(1, ByteRole::Word);
  }
  out.raw = quote != '\0';
  if (!ends_word(peek()) || peek() == '(' || ((peek() == '<' || peek() == '>') && peek(1) == '('))
    return refuse("a here-document whose delimiter is not a plain word");
  if (in_substitution_ > 0 && !out.raw)
    return refuse("a here-document with expansions inside a substitution");
  return true;
}

// Called at the first byte after the line that holds the operator.
bool Parser::heredoc_body(HereDoc& out) {
  out.body.begin = position();
  size_t line = at_;
  for (;;) {
    if (line >= end_) return refuse("a here-document without an end");
    const size_t found = text_.substr(0, end_).find('\n', line);
    const size_t stop = found == std::string_view::npos ? end_ : found;
    std::string_view content = slice(line, stop);
    if (!out.raw && content.ends_with('\\')) return refuse("a here-document with a continued line");
    if (out.strip_tabs) content.remove_prefix(std::min(content.find_first_not_of('\t'), content.size()));
    if (content == out.delimiter) {
      out.body.end = static_cast<uint32_t>(line);
      // Inside $( ) the end line must have an end of its own: shells disagree about `E)`.
      if (in_substitution_ > 0 && found == std::string_view::npos)
        return refuse("a here-document without an end");
      if (!heredoc_content(out)) return false;
      take(line - at_, ByteRole::HereDoc);
      take(std::min(stop + 1, end_) - at_, ByteRole::HereDoc);
      return true;
    }
    if (found == std::string_view::npos) return refuse("a here-document without an end");
    line = stop + 1;
  }
}

bool Parser::heredoc_content(HereDoc& out) {
  out.content.span = out.body;
  std::vector<Part>& parts = out.content.parts;
  std::string value;
  size_t from = at_;
  const auto flush = [&](size_t to) {
    if (!value.empty()) add_text(parts, Quoting::Double, from, to, value);
    value.clear();
  };
  const size_t outer_end = end_;
  end_ = out.body.end;
  bool line_start = true;
  while (!at_end()) {
    const char c = peek();
    if (line_start && out.strip_tabs && c == '\t') {
      take(1, ByteRole::HereDoc);
      continue;
    }
    line_start = c == '\n';
    if (!out.raw && c == '\\' && std::string_view("$`\\").find(peek(1)) != std::string_view::npos &&
        peek(1) != '\0') {
      value.push_back(peek(1));
      take(2, ByteRole::HereDoc);
      continue;
    }
    if (!out.raw && (c == '$' || c == '`')) {
      // A `"` behind the dollar is text here.
      if (c == '$' && (peek(1) == '"' || peek(1) == '\'' || peek(1) == '\\')) {
        value.push_back(c);
        take(1, ByteRole::HereDoc);
        continue;
      }
      flush(at_);
      ++in_substitution_;
      const bool ok = c == '$' ? dollar(parts, Quoting::Double) : refuse("backquotes in a here-document");
      --in_substitution_;
      if (!ok) return false;
      from = at_;
      continue;
    }
    value.push_back(c);
    take(1, ByteRole::HereDoc);
  }
  flush(at_);
  end_ = outer_end;
  return true;
}

}  // namespace ttyward::syntax
