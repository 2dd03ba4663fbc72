#include "policy/word_lexer.h"

#include <cctype>

#include "policy/ansi_c.h"

namespace ttyward::policy {

bool is_name_start(char c) {
  return c == '_' || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
}
bool is_name_char(char c) {
  return is_name_start(c) || (c >= '0' && c <= '9');
}

void WordLexer::fail(std::string why) {
  if (failed_) return;
  failed_ = true;
  reader_.host_.not_understood(std::move(why), {begin_, end_});
}

void WordLexer::put_expansion(Expansion expansion, bool is_quoted) {
  items.push_back({0, is_quoted, static_cast<int>(expansions.size())});
  expansions.push_back(std::move(expansion));
}

void WordLexer::run() {
  while (at_ < end_ && !failed_) {
    const char c = peek();
    const bool in_heredoc = mode_ == LexMode::Heredoc;
    if (c == '\\') {
      backslash(in_heredoc);
    } else if (c == '$') {
      dollar(in_heredoc);
    } else if (c == '`') {
      backquote(in_heredoc);
    } else if (in_heredoc) {
      put(c, true);
      ++at_;
    } else if (c == '\'') {
      single_quotes();
    } else if (c == '"') {
      ++at_;
      double_quotes();
    } else if ((c == '<' || c == '>') && peek(1) == '(' &&
               take_substitution(NodeKind::ProcessSubstitution, true)) {
      continue;
    } else if (mode_ == LexMode::Word && std::string_view(" \t\n;&|<>()").find(c) != std::string_view::npos) {
      fail("a word whose end is not where it seems");
    } else {
      put(c, false);
      ++at_;
    }
  }
}

void WordLexer::single_quotes() {
  quoted = true;
  disguised |= at_ > begin_;
  const size_t close = reader_.text_.find('\'', at_ + 1);
  if (close == std::string_view::npos || close >= end_) return fail("a quote that is not closed");
  if (close == at_ + 1) put_expansion({{""}, "", false}, true);  // keeps an empty argument alive
  for (uint32_t i = at_ + 1; i < close; ++i) put(reader_.text_[i], true);
  at_ = static_cast<uint32_t>(close) + 1;
  disguised |= at_ < end_;
}

void WordLexer::ansi_c_quotes() {
  quoted = true;
  disguised = true;
  uint32_t close = at_ + 2;
  while (close < end_ && reader_.text_[close] != '\'') close += reader_.text_[close] == '\\' ? 2 : 1;
  if (close >= end_) return fail("a quote that is not closed");
  std::string decoded;
  if (!decode_ansi_c(slice(at_ + 2, close), decoded)) {
    reader_.host_.risky_expansion("an escaped control character", {at_, close + 1});
    put_unknown(true);
    decoded.clear();
  }
  for (const char c : decoded) put(c, true);
  at_ = close + 1;
}

void WordLexer::double_quotes() {
  quoted = true;
  disguised |= at_ - 1 > begin_;
  const size_t before = items.size();
  while (at_ < end_ && !failed_) {
    const char c = peek();
    if (c == '"') {
      if (items.size() == before) put_expansion({{""}, "", false}, true);
      ++at_;
      disguised |= at_ < end_;
      return;
    }
    if (c == '\\') {
      backslash(true);
    } else if (c == '$') {
      dollar(true);
    } else if (c == '`') {
      backquote(true);
    } else {
      put(c, true);
      ++at_;
    }
  }
  fail("a quote that is not closed");
}

void WordLexer::backslash(bool in_quotes) {
  if (at_ + 1 >= end_) return fail("a backslash at the end");
  const char next = peek(1);
  if (next == '\n') {  // a continued line
    disguised |= !in_quotes;
    at_ += 2;
    return;
  }
  const std::string_view escapable = mode_ == LexMode::Heredoc ? "$`\\" : "$`\"\\";
  if (in_quotes && escapable.find(next) == std::string_view::npos) {
    put('\\', true);
    ++at_;
    return;
  }
  // Escaping a letter is never needed: it can only be there to deceive a reader.
  disguised |= !in_quotes && at_ > begin_ && std::isalnum(static_cast<unsigned char>(next)) != 0;
  quoted = true;
  put(next, true);
  at_ += 2;
}

WordLexer::Expansion WordLexer::plain_value(std::string_view name) {
  const Value* value = reader_.host_.variable(name);
  Expansion result;
  result.values = value == nullptr ? Value{std::string(1, kAny)}
                  : value->empty() ? Value{""}
                                   : Value{value->front()};
  if (result.values.front().find(kAny) != std::string::npos)
    result.other = reader_.host_.possible_value(name);
  return result;
}

void WordLexer::backquote(bool is_quoted) {
  expanded = true;
  const uint32_t node = reader_.find_node(at_, NodeKind::CommandSubstitution);
  if (node == 0) return fail("a backquote that is not understood");
  const Node& found = reader_.tree_.nodes[node];
  // Inside backquotes a backslash is taken away before the text is parsed; the tree does not do that.
  if (slice(found.begin, found.end).find('\\') != std::string_view::npos)
    return fail("escapes inside backquotes");
  if (!take_substitution(NodeKind::CommandSubstitution, is_quoted))
    fail("a backquote that is not understood");
}

bool WordLexer::take_substitution(NodeKind kind, bool is_quoted) {
  const uint32_t node = reader_.find_node(at_, kind);
  if (node == 0) return false;
  const uint32_t node_end = reader_.tree_.nodes[node].end;
  if (node_end > end_) return false;
  switch (kind) {
    case NodeKind::CommandSubstitution:
      put_expansion({{reader_.host_.substitution(node)}, "", false}, is_quoted);
      break;
    case NodeKind::ProcessSubstitution:
      reader_.host_.visit_nested(node);
      for (const char c : std::string_view("/dev/fd/63")) put(c, true);
      break;
    default:
      reader_.check_arithmetic(at_, node_end);
      reader_.host_.visit_nested(node);
      put_expansion({{std::string(1, kDigits)}, "", false}, is_quoted);
  }
  at_ = node_end;
  return true;
}

void WordLexer::dollar(bool is_quoted) {
  expanded = true;
  const char next = peek(1);
  if (next == '(' || next == '[') {
    if (take_substitution(NodeKind::ArithmeticExpansion, is_quoted)) return;
    if (next == '(' && take_substitution(NodeKind::CommandSubstitution, is_quoted)) return;
    return fail("a substitution that is not understood");
  }
  if (next == '{') return braced_expansion(is_quoted);
  if (next == '\'' && !is_quoted) return ansi_c_quotes();
  if (next == '"' && !is_quoted) {  // a translated string: what it becomes depends on the locale's catalogue
    disguised = true;
    at_ += 2;
    return double_quotes();
  }
  if (is_name_start(next)) {
    uint32_t stop = at_ + 1;
    while (stop < end_ && is_name_char(reader_.text_[stop])) ++stop;
    put_expansion(plain_value(slice(at_ + 1, stop)), is_quoted);
    at_ = stop;
    return;
  }
  if (std::string_view("?$#!").find(next) != std::string_view::npos && next != '\0') {
    put_expansion({{std::string(1, kDigits)}, "", false}, is_quoted);
    at_ += 2;
    return;
  }
  if (next == '@' || next == '*' || next == '-' || (next >= '0' && next <= '9')) {
    const Value* value = reader_.host_.variable(slice(at_ + 1, at_ + 2));
    if (value != nullptr) {
      put_expansion({*value, "", next == '@'}, is_quoted);
    } else if (next == '@') {
      put_expansion({{std::string(1, kAnyFields)}, "", false}, is_quoted);
    } else {
      put_unknown(is_quoted);
    }
    at_ += 2;
    return;
  }
  put('$', true);
  ++at_;
}

void WordLexer::braced_expansion(bool is_quoted) {
  const uint32_t node = reader_.find_node(at_, NodeKind::Expansion);
  if (node == 0) return fail("an expansion that is not understood");
  const uint32_t node_end = reader_.tree_.nodes[node].end;
  if (node_end > end_ || reader_.text_[node_end - 1] != '}')
    return fail("an expansion that is not understood");
  const uint32_t close = node_end - 1;
  uint32_t at = at_ + 2;
  const uint32_t whole = at_;
  at_ = node_end;

  if (at < close && reader_.text_[at] == '#' && at + 1 < close) {  // ${#x}
    reader_.host_.visit_nested(node);
    return put_expansion({{std::string(1, kDigits)}, "", false}, is_quoted);
  }
  if (at < close && reader_.text_[at] == '!') {  // ${!x}: the name is in another variable
    reader_.host_.visit_nested(node);
    reader_.host_.risky_expansion("uses a variable whose name is in another variable", {whole, node_end});
    return put_unknown(is_quoted);
  }
  const uint32_t name_begin = at;
  while (at < close && is_name_char(reader_.text_[at])) ++at;
  if (at == name_begin) {  // ${@}, ${1}, ${?} and their operators
    reader_.host_.visit_nested(node);
    const char special = reader_.text_[name_begin];
    if (special == '@' || special == '*') {
      return put_expansion({{std::string(1, kAnyFields)}, "", false}, is_quoted);
    }
    return put_unknown(is_quoted);
  }
  const std::string_view name = slice(name_begin, at);
  const Value* value = reader_.host_.variable(name);
  Expansion result;
  if (at < close && reader_.text_[at] == '[') {
    const size_t bracket = slice(at, close).rfind(']');
    const std::string_view subscript =
        bracket == std::string_view::npos ? "" : slice(at + 1, at + static_cast<uint32_t>(bracket));
    const bool all = subscript == "@" || subscript == "*";
    if (!all && subscript.find_first_not_of("0123456789") != std::string_view::npos) {
      reader_.check_arithmetic(at + 1, at + static_cast<uint32_t>(bracket));
      reader_.host_.visit_nested(node);
      return put_unknown(is_quoted);
    }
    if (!all || bracket == std::string_view::npos || at + bracket + 1 != close || value == nullptr) {
      reader_.host_.visit_nested(node);
      if (all) return put_expansion({{std::string(1, kAnyFields)}, "", false}, is_quoted);
      return put_unknown(is_quoted);
    }
    result.values = *value;
    result.separate = true;
    return put_expansion(std::move(result), is_quoted);
  }
  if (at == close) return put_expansion(plain_value(name), is_quoted);
  operate(name, value, at, close, is_quoted, result);
  put_expansion(std::move(result), is_quoted);
}

// ${name OPERATOR word}: constants are worked out, the rest is unknown text.
void WordLexer::operate(std::string_view name, const Value* value, uint32_t from, uint32_t to, bool,
                        Expansion& result) {
  const std::string_view body = slice(from, to);
  const bool known = value != nullptr && !value->empty() &&
                     value->front().find_first_of("\x01\x02\x03\x04\x05\x06") == std::string::npos;
  const std::string held = value != nullptr && !value->empty() ? value->front() : std::string();
  const std::string unknown(1, kAny);
  size_t skip =
      body[0] == ':' && body.size() > 1 && std::string_view("-=+?").find(body[1]) != std::string_view::npos
          ? 2
          : 1;
  const char op = body[skip - 1];
  const auto word = [&] { return reader_.read_text(from + static_cast<uint32_t>(skip), to); };
  if (std::string_view("-=+?").find(op) != std::string_view::npos) {
    const std::string alternative = word();
    const bool set = known && !(skip == 2 && held.empty());
    if (op == '+') {
      result.values = {set ? alternative : unknown};
    } else {
      result.values = {set ? held : unknown};
    }
    if (!set) result.other = alternative;
    if (op == '=' && !set) reader_.host_.assign(name, {unknown});
    return;
  }
  if (op == ':') {  // a slice: its bounds are arithmetic
    reader_.check_arithmetic(from + 1, to);
    const std::string bounds(body.substr(1));
    const size_t colon = bounds.find(':');
    const auto number = [](const std::string& text, long& out) {
      const size_t digit = text.find_first_not_of(' ');
      if (digit == std::string::npos || text.find_first_not_of("0123456789", digit) != std::string::npos)
        return false;
      out = std::strtol(text.c_str() + digit, nullptr, 10);
      return text.size() < 9;
    };
    long offset = 0;
    long length = static_cast<long>(held.size());
    const bool constant = number(bounds.substr(0, colon), offset) &&
                          (colon == std::string::npos || number(bounds.substr(colon + 1), length));
    const size_t stop = static_cast<size_t>(offset) + static_cast<size_t>(length);
    const size_t mark = held.find_first_of("\x01\x02\x03\x04\x05\x06");
    if (constant && value != nullptr && (known || (mark != std::string::npos && stop <= mark))) {
      result.values = {static_cast<size_t>(offset) > held.size()
                           ? std::string()
                           : held.substr(static_cast<size_t>(offset), static_cast<size_t>(length))};
    } else {
      result.values = {unknown};
    }
    return;
  }
  if (op == '@' && body.find('P') != std::string_view::npos) {
    reader_.host_.risky_expansion("${…@P} runs commands inside a value", {from, to});
  }
  reader_.read_text(from + 1, to);  // for the commands inside
  result.values = {unknown};
  const size_t pattern_at = body.find_first_not_of(body[0]);
  const std::string_view pattern = pattern_at == std::string_view::npos ? "" : body.substr(pattern_at);
  const bool plain = pattern.find_first_of("*?[$`\\'\"") == std::string_view::npos;
  if (known && plain && body[0] == '#' && held.starts_with(pattern))
    result.values = {held.substr(pattern.size())};
  if (known && plain && body[0] == '%' && held.ends_with(pattern)) {
    result.values = {held.substr(0, held.size() - pattern.size())};
  }
}

}  // namespace ttyward::policy
