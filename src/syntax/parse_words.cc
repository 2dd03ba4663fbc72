// Words: quoting, and everything that begins with a `$`.
#include <algorithm>
#include <array>
#include <cctype>

#include "base/hex.h"
#include "base/utf8.h"
#include "syntax/parser.h"

namespace ttyward::syntax {
namespace {

bool is_digit(char c) {
  return c >= '0' && c <= '9';
}

bool is_special_parameter(char c) {
  return c == '@' || c == '*' || c == '#' || c == '?' || c == '-' || c == '$' || c == '!' || is_digit(c);
}

// A `$` before these is a dollar sign to every shell.
bool keeps_dollar_plain(char c, bool quoted) {
  if (c == '\0' || c == ' ' || c == '\t' || c == '\n') return true;
  if (quoted) return std::string_view("\"/.,:%^+=|;&<>)]}").find(c) != std::string_view::npos;
  return std::string_view("/.,:%+=;&|)").find(c) != std::string_view::npos;
}

}  // namespace

bool Parser::ends_word(char c) const {
  return at_end() || c == ' ' || c == '\t' || c == '\n' || c == ';' || c == '&' || c == '|' || c == '<' ||
         c == '>' || c == '(' || c == ')';
}

void Parser::add_text(std::vector<Part>& parts, Quoting quoting, size_t from, size_t to,
                      std::string_view text) {
  const bool joins = !parts.empty() && parts.back().kind == PartKind::Text &&
                     parts.back().quoting == quoting && quoting == Quoting::None;
  if (joins) {
    parts.back().text.append(text);
    parts.back().span.end = static_cast<uint32_t>(to);
    return;
  }
  Part& part = parts.emplace_back();
  part.quoting = quoting;
  part.span = {static_cast<uint32_t>(from), static_cast<uint32_t>(to)};
  part.text = std::string(text);
}

bool Parser::word(Word& out, Context context) {
  out.span.begin = position();
  if ((peek() == '<' || peek() == '>') && peek(1) == '(') {
    if (!process_substitution(out.parts)) return false;
    if (!ends_word(peek()) || peek() == '(' || peek() == '<' || peek() == '>')
      return refuse("text directly after a process substitution");
    out.span.end = position();
    return true;
  }
  while (!ends_word(peek())) {
    bool ok = false;
    switch (peek()) {
      case '\'':
        ok = single_quotes(out.parts);
        break;
      case '"':
        ok = double_quotes(out.parts);
        break;
      case '\\':
        if (peek(1) == '\n' && context == Context::Command && out.parts.size() <= 1)
          return refuse("a command name that continues after a line end");
        ok = backslash(out.parts);
        out.continued |= text_[at_ - 1] == '\n' && !ends_word(peek());
        break;
      case '$':
        ok = dollar(out.parts, Quoting::None);
        break;
      case '`':
        ok = backquotes(out.parts, Quoting::None);
        break;
      default:
        ok = bare_character(out.parts);
    }
    if (!ok) return false;
  }
  out.span.end = position();
  if ((peek() == '<' || peek() == '>') && peek(1) == '(')
    return refuse("a process substitution directly after a word");
  if (context == Context::Declaration && peek() == '(') {
    // declare NAME=( … )
    const bool named = out.parts.size() == 1 && out.parts[0].kind == PartKind::Text &&
                       out.parts[0].quoting == Quoting::None && out.parts[0].text.ends_with("=") &&
                       is_name_start(out.parts[0].text[0]) &&
                       std::all_of(out.parts[0].text.begin(), out.parts[0].text.end() - 1, is_name_char);
    if (!named || !bash()) return refuse("a parenthesis among words");
    if (!array_elements(out)) return false;
  }
  return check_word(out, context);
}

bool Parser::check_word(const Word& word, Context context) {
  if (word.parts.empty()) return refuse("a word is missing");
  const Part& first = word.parts.front();
  const bool bare = first.kind == PartKind::Text && first.quoting == Quoting::None;
  if ((peek() == '<' || peek() == '>') && bare && word.parts.size() == 1) {
    const std::string& text = first.text;
    if (text.front() == '{' && text.back() == '}') return refuse("a descriptor that is kept in a variable");
    if (std::all_of(text.begin(), text.end(), is_digit)) return refuse("a descriptor of several digits");
  }
  if (context == Context::Command && bare && posix() && first.text.starts_with("[["))
    return refuse("'[[' is an ordinary command to this shell");
  if (!zsh()) return true;
  if (bare && (first.text.front() == '=' || first.text.front() == '-')) {
    if (first.text.front() == '=') return refuse("a word that begins with '=' is expanded by zsh");
    if (context == Context::Command) return refuse("a command that begins with '-'");
  }
  for (size_t i = 0; i < word.parts.size(); ++i) {
    const Part& part = word.parts[i];
    if (part.kind != PartKind::Text || part.quoting != Quoting::None) continue;
    if (part.text.find_first_of("{}^#!") != std::string::npos)
      return refuse("a character that zsh may expand");
    if (part.text.find('~', i == 0 ? 1 : 0) != std::string::npos) return refuse("a tilde inside a word");
    const auto opened = std::count(part.text.begin(), part.text.end(), '[');
    const auto closed = std::count(part.text.begin(), part.text.end(), ']');
    const bool test = word.parts.size() == 1 && (part.text == "[" || part.text == "]");
    if (opened != closed && !test) return refuse("an unmatched bracket");
    if (i > 0 && word.parts[i - 1].kind == PartKind::Parameter &&
        (part.text[0] == '[' || part.text[0] == ':'))
      return refuse("text after a variable that zsh reads as a part of it");
  }
  return true;
}

bool Parser::bare_character(std::vector<Part>& parts) {
  const size_t from = at_;
  size_t next = at_;
  while (next < end_) {
    const char c = text_[next];
    if (static_cast<unsigned char>(c) < 0x80 &&
        std::string_view("'\"\\$` \t\n;&|<>()").find(c) != std::string_view::npos)
      break;
    ++next;
  }
  take(next - at_, ByteRole::Word);
  add_text(parts, Quoting::None, from, next, slice(from, next));
  return true;
}

bool Parser::backslash(std::vector<Part>& parts) {
  if (at_ + 1 >= end_) return refuse("a backslash at the end");
  const size_t from = at_;
  if (peek(1) == '\n') {
    // A word that goes on in the next line. Only where that line begins with a blank or a plain character.
    if (outer_headers_ > 0 || !pending_.empty())
      return refuse("a continued line before the body of a here-document");
    take(2, ByteRole::Gap);
    if (at_end()) return refuse("a continued line without a next line");
    if (peek() == '\\' || peek() == '<' || peek() == '>' || peek() == '(' || peek() == '#')
      return refuse("a word that continues after a line end");
    return true;
  }
  if (static_cast<unsigned char>(peek(1)) < 0x20) return refuse("an escaped control character");
  size_t next = at_ + 1;
  base::decode_utf8(text_, next);
  take(next - at_, ByteRole::Word);
  add_text(parts, Quoting::Backslash, from, next, slice(from + 1, next));
  return true;
}

bool Parser::single_quotes(std::vector<Part>& parts) {
  const size_t from = at_;
  const size_t close = text_.substr(0, end_).find('\'', at_ + 1);
  if (close == std::string_view::npos) return refuse("a quote that is not closed");
  const std::string_view inside = slice(from + 1, close);
  if (inside.find('\n') != std::string_view::npos && (outer_headers_ > 0 || !pending_.empty()))
    return refuse("a word of several lines before the body of a here-document");
  take(close + 1 - at_, ByteRole::Word);
  add_text(parts, Quoting::Single, from, at_, inside);
  return true;
}

// $'…': only escapes that bash decodes to something printable, a line end or a tab.
bool Parser::ansi_c_quotes(std::vector<Part>& parts) {
  if (!bash()) return refuse("$'…' is read differently by different shells");
  const size_t from = at_;
  std::string value;
  size_t at = at_ + 2;
  for (;; ++at) {
    if (at >= end_) return refuse("a quote that is not closed");
    char c = text_[at];
    if (c == '\'') break;
    if (c != '\\') {
      if (c == '\n' && (outer_headers_ > 0 || !pending_.empty()))
        return refuse("a word of several lines before the body of a here-document");
      value.push_back(c);
      continue;
    }
    if (++at >= end_) return refuse("a quote that is not closed");
    c = text_[at];
    if (c == 'n' || c == 't') {
      value.push_back(c == 'n' ? '\n' : '\t');
    } else if (c == '\\' || c == '\'' || c == '"' || c == '?') {
      value.push_back(c);
    } else {
      // \xHH, \uHHHH, \UHHHHHHHH and \OOO
      const bool octal = c >= '0' && c <= '7';
      const size_t most = octal ? 3 : c == 'x' ? 2 : c == 'u' ? 4 : c == 'U' ? 8 : 0;
      if (most == 0) return refuse("an escape that is not understood");
      const int radix = octal ? 8 : 16;
      if (octal) --at;
      char32_t code = 0;
      size_t digits = 0;
      while (digits < most && at + 1 < end_) {
        const int digit = base::hex_digit(text_[at + 1]);
        if (digit < 0 || digit >= radix) break;
        code = code * static_cast<char32_t>(radix) + static_cast<char32_t>(digit);
        ++at;
        ++digits;
      }
      if (digits == 0) return refuse("an escape that is not understood");
      const bool unicode = c == 'u' || c == 'U';
      if (code < 0x20 || code == 0x7F || (code > 0x7F && (!unicode || code <= 0xA0)) || code > 0x10FFFF ||
          (code >= 0xD800 && code <= 0xDFFF))
        return refuse("an escaped control character");
      char bytes[4];
      value.append(bytes, base::encode_utf8(code, bytes));
    }
  }
  take(at + 1 - at_, ByteRole::Word);
  add_text(parts, Quoting::AnsiC, from, at_, value);
  return true;
}

bool Parser::double_quotes(std::vector<Part>& parts) {
  size_t from = at_;
  take(1, ByteRole::Word);
  std::string value;
  bool any = false;
  const auto flush = [&](size_t to) {
    if (value.empty()) return;
    add_text(parts, Quoting::Double, from, to, value);
    value.clear();
    any = true;
  };
  while (!at_end()) {
    const char c = peek();
    if (c == '"') {
      take(1, ByteRole::Word);
      if (!any && value.empty()) {
        add_text(parts, Quoting::Double, from, at_, "");  // keeps an empty argument alive
      } else {
        flush(at_);
      }
      return true;
    }
    if (c == '$' || c == '`') {
      flush(at_);
      const size_t before = parts.size();
      if (!(c == '$' ? dollar(parts, Quoting::Double) : backquotes(parts, Quoting::Double))) return false;
      any |= parts.size() > before;
      from = at_;
      continue;
    }
    if (c == '\n' && (outer_headers_ > 0 || !pending_.empty()))
      return refuse("a word of several lines before the body of a here-document");
    if (c == '\\' && at_ + 1 < end_ && std::string_view("$`\"\\\n").find(peek(1)) != std::string_view::npos) {
      if (peek(1) == '\n') {
        if (outer_headers_ > 0 || !pending_.empty())
          return refuse("a continued line before the body of a here-document");
      } else {
        value.push_back(peek(1));
      }
      take(2, ByteRole::Word);
      continue;
    }
    value.push_back(c);
    take(1, ByteRole::Word);
  }
  return refuse("a quote that is not closed");
}

bool Parser::dollar(std::vector<Part>& parts, Quoting quoting) {
  const size_t from = at_;
  const char next = peek(1);
  if (next == '(') {
    return peek(2) == '(' ? arithmetic_substitution(parts, quoting) : command_substitution(parts, quoting);
  }
  if (next == '{') return braced(parts, quoting);
  if (next == '\'' && quoting == Quoting::None) return ansi_c_quotes(parts);
  if (is_name_start(next)) {
    size_t stop = at_ + 1;
    while (stop < end_ && is_name_char(text_[stop])) ++stop;
    if (stop + 1 < end_ && text_[stop] == '\\' && text_[stop + 1] == '\n')
      return refuse("a variable name before a continued line");
    if (zsh() && stop < end_ && (text_[stop] == '[' || text_[stop] == ':'))
      return refuse("text after a variable that zsh reads as a part of it");
    Part& part = parts.emplace_back();
    part.kind = PartKind::Parameter;
    part.quoting = quoting;
    part.expansion = std::make_unique<Expansion>();
    part.expansion->name = std::string(slice(from + 1, stop));
    take(stop - at_, ByteRole::Word);
    part.span = {static_cast<uint32_t>(from), position()};
    return true;
  }
  if (is_special_parameter(next)) {
    const char after = peek(2);
    if (is_digit(next) && is_digit(after)) return refuse("a parameter of two digits without braces");
    if (zsh() && (after == '[' || after == ':' || next == '#' || next == '-' || next == '!'))
      return refuse("text after a variable that zsh reads as a part of it");
    if (after == '\\' && peek(3) == '\n') return refuse("a variable name before a continued line");
    Part& part = parts.emplace_back();
    part.kind = PartKind::Parameter;
    part.quoting = quoting;
    part.expansion = std::make_unique<Expansion>();
    part.expansion->name = std::string(1, next);
    take(2, ByteRole::Word);
    part.span = {static_cast<uint32_t>(from), position()};
    return true;
  }
  const bool plain =
      (zsh() ? next == '\0' || next == ' ' || next == '\n' || (next == '"' && quoting == Quoting::Double)
             : keeps_dollar_plain(next, quoting == Quoting::Double));
  if (!plain) return refuse("a dollar sign that is not understood");
  take(1, ByteRole::Word);
  add_text(parts, quoting == Quoting::None ? Quoting::Backslash : quoting, from, at_, "$");
  return true;
}

// ${…}
bool Parser::braced(std::vector<Part>& parts, Quoting quoting) {
  const Deeper deeper(depth_);
  if (!deeper.ok) return refuse("expansions nested too deeply");
  const size_t from = at_;
  take(2, ByteRole::Word);
  Part part;
  part.kind = PartKind::Parameter;
  part.quoting = quoting;
  part.expansion = std::make_unique<Expansion>();
  Expansion& expansion = *part.expansion;
  if (peek() == '#' && peek(1) != '}') {
    take(1, ByteRole::Word);
    expansion.op = ParameterOp::Length;
  }
  size_t stop = at_;
  if (is_name_start(peek())) {
    while (stop < end_ && is_name_char(text_[stop])) ++stop;
  } else if (is_digit(peek())) {
    while (stop < end_ && is_digit(text_[stop])) ++stop;
  } else if (expansion.op == ParameterOp::None && is_special_parameter(peek()) && peek(1) == '}') {
    ++stop;
  } else if (expansion.op == ParameterOp::None && (peek() == '@' || peek() == '*') &&
             std::string_view(":-+").find(peek(1)) != std::string_view::npos) {
    ++stop;
  } else if (expansion.op == ParameterOp::Length && (peek() == '@' || peek() == '*') && peek(1) == '}') {
    ++stop;
  } else {
    return refuse("an expansion that is not understood");
  }
  expansion.name = std::string(slice(at_, stop));
  take(stop - at_, ByteRole::Word);
  if (peek() == '[') {
    if (!bash()) return refuse("a subscript is read differently by different shells");
    size_t close = at_ + 1;
    if (peek(1) == '@' || peek(1) == '*') {
      ++close;
    } else {
      while (close < end_ && is_digit(text_[close])) ++close;
    }
    if (close == at_ + 1 || close >= end_ || text_[close] != ']')
      return refuse("a subscript that is not a number");
    expansion.subscript = std::string(slice(at_ + 1, close));
    take(close + 1 - at_, ByteRole::Word);
  }
  if (peek() != '}') {
    if (expansion.op == ParameterOp::Length) return refuse("an expansion that is not understood");
    if (!braced_operator(expansion, quoting)) return false;
  }
  if (peek() != '}') return refuse("an expansion that is not closed");
  take(1, ByteRole::Word);
  if (zsh() && (peek() == '[' || peek() == ':'))
    return refuse("text after a variable that zsh reads as a part of it");
  part.span = {static_cast<uint32_t>(from), position()};
  parts.push_back(std::move(part));
  return true;
}

bool Parser::braced_operator(Expansion& expansion, Quoting quoting) {
  const bool everywhere = !zsh();
  if (!everywhere) return refuse("an operator inside ${ }");
  const char c = peek();
  const bool colon =
      c == ':' && std::string_view("-=?+").find(peek(1)) != std::string_view::npos && peek(1) != '\0';
  const char op = colon ? peek(1) : c;
  switch (op) {
    case '-':
    case '=':
    case '?':
    case '+':
      expansion.op = op == '-'   ? ParameterOp::Default
                     : op == '=' ? ParameterOp::Assign
                     : op == '?' ? ParameterOp::Error
                                 : ParameterOp::Alternative;
      expansion.colon = colon;
      take(colon ? 2 : 1, ByteRole::Word);
      return braced_word(expansion.argument, quoting, '}');
    case '#':
    case '%':
      expansion.op = op == '#' ? ParameterOp::RemovePrefix : ParameterOp::RemoveSuffix;
      expansion.doubled = peek(1) == op;
      take(expansion.doubled ? 2 : 1, ByteRole::Word);
      return braced_word(expansion.argument, quoting, '}');
    default:
      break;
  }
  if (!bash()) return refuse("an operator that not all shells have");
  switch (op) {
    case '/':
      expansion.op = ParameterOp::Replace;
      expansion.doubled = peek(1) == '/';
      take(expansion.doubled ? 2 : 1, ByteRole::Word);
      if (peek() == '/' || peek() == '}') return refuse("a replacement that is not understood");
      if (!braced_word(expansion.argument, quoting, '/')) return false;
      if (peek() != '/') return true;
      take(1, ByteRole::Word);
      return braced_word(expansion.replacement, quoting, '}');
    case '^':
    case ',':
      expansion.op = ParameterOp::ChangeCase;
      expansion.doubled = peek(1) == op;
      take(expansion.doubled ? 2 : 1, ByteRole::Word);
      if (peek() != '}') return refuse("an operator that is not understood");
      return true;
    case ':':
      expansion.op = ParameterOp::Substring;
      take(1, ByteRole::Word);
      if (!substring_number(expansion.offset)) return false;
      if (peek() == ':') {
        take(1, ByteRole::Word);
        if (!substring_number(expansion.length)) return false;
      }
      return true;
    default:
      return refuse("an operator that is not understood");
  }
}

// A constant: anything else is arithmetic that may run commands.
bool Parser::substring_number(long& out) {
  if (peek() == ' ') take(1, ByteRole::Word);
  const bool negative = peek() == '-';
  if (negative) take(1, ByteRole::Word);
  size_t stop = at_;
  while (stop < end_ && is_digit(text_[stop]) && stop - at_ < 8) ++stop;
  if (stop == at_) return refuse("bounds of a substring that are not numbers");
  if (text_[at_] == '0' && stop - at_ > 1)
    return refuse("bounds of a substring that are not decimal numbers");
  out = 0;
  for (size_t i = at_; i < stop; ++i) out = out * 10 + (text_[i] - '0');
  if (negative) out = -out;
  take(stop - at_, ByteRole::Word);
  return true;
}

// The word inside ${x:-word}. Quotes in it pair up differently from shell to shell when the whole is quoted.
bool Parser::braced_word(std::vector<Part>& parts, Quoting quoting, char stop) {
  while (!at_end() && peek() != '}' && peek() != stop) {
    const char c = peek();
    if (c == '\'' || c == '"') {
      if (quoting != Quoting::None) return refuse("a quote inside ${ } inside quotes");
      if (!(c == '"' ? double_quotes(parts) : single_quotes(parts))) return false;
    } else if (c == '$') {
      if (!dollar(parts, quoting)) return false;
    } else if (c == '\\' || c == '`' || c == '\n' || c == '(' || c == ')' || c == '<' || c == '>' ||
               c == '{' || c == '&' || c == '!') {
      return refuse("a character inside ${ } that shells read differently");
    } else {
      const size_t from = at_;
      take(1, ByteRole::Word);
      add_text(parts, quoting, from, at_, slice(from, at_));
    }
  }
  if (at_end()) return refuse("an expansion that is not closed");
  return true;
}

bool Parser::command_substitution(std::vector<Part>& parts, Quoting quoting) {
  const size_t from = at_;
  Part part;
  part.kind = PartKind::Command;
  part.quoting = quoting;
  part.expansion = std::make_unique<Expansion>();
  part.expansion->list = std::make_unique<List>();
  take(2, ByteRole::Word);
  const int headers = static_cast<int>(pending_.size());
  std::vector<HereDoc*> outer;
  outer.swap(pending_);
  outer_headers_ += headers;
  ++in_substitution_;
  if (!list(*part.expansion->list, Within::Parentheses, true)) return false;
  --in_substitution_;
  outer_headers_ -= headers;
  if (!pending_.empty()) return refuse("a here-document whose body is outside its command");
  pending_.swap(outer);
  if (peek() != ')') return refuse("a substitution that is not closed");
  take(1, ByteRole::Word);
  part.span = {static_cast<uint32_t>(from), position()};
  parts.push_back(std::move(part));
  return true;
}

// `…`: the text inside is read a second time after backslashes are gone, so it must have none, and no quotes.
bool Parser::backquotes(std::vector<Part>& parts, Quoting quoting) {
  const size_t from = at_;
  const size_t close = text_.substr(0, end_).find('`', at_ + 1);
  if (close == std::string_view::npos) return refuse("a backquote that is not closed");
  if (slice(from + 1, close).find_first_of("\\'\"\n#<") != std::string_view::npos)
    return refuse("quotes, escapes or several lines inside backquotes");
  if (in_substitution_ > 0) return refuse("backquotes inside a substitution");
  Part part;
  part.kind = PartKind::Command;
  part.quoting = quoting;
  part.expansion = std::make_unique<Expansion>();
  part.expansion->backquotes = true;
  part.expansion->list = std::make_unique<List>();
  take(1, ByteRole::Word);
  const size_t outer_end = end_;
  end_ = close;
  ++in_substitution_;
  if (!list(*part.expansion->list, Within::Program, true)) return false;
  --in_substitution_;
  if (!at_end()) return refuse("a word or operator that does not belong here");
  end_ = outer_end;
  take(1, ByteRole::Word);
  part.span = {static_cast<uint32_t>(from), position()};
  parts.push_back(std::move(part));
  return true;
}

bool Parser::process_substitution(std::vector<Part>& parts) {
  if (!bash()) return refuse("a process substitution is read differently by different shells");
  const bool writes = peek() == '>';
  if (peek(2) == '(') return refuse("two parentheses in a process substitution");
  if (!command_substitution(parts, Quoting::None)) return false;
  Part& part = parts.back();
  part.kind = PartKind::Process;
  part.expansion->writes = writes;
  if (part.expansion->list->items.empty()) return refuse("a process substitution without a command");
  return true;
}

bool Parser::arithmetic_substitution(std::vector<Part>& parts, Quoting quoting) {
  const size_t from = at_;
  Part part;
  part.kind = PartKind::Arithmetic;
  part.quoting = quoting;
  part.expansion = std::make_unique<Expansion>();
  take(3, ByteRole::Word);
  if (!arithmetic(part.expansion->expression, part.expansion->expression_span, false)) return false;
  if (!starts_with("))")) return refuse("arithmetic that is not closed");
  take(2, ByteRole::Word);
  part.span = {static_cast<uint32_t>(from), position()};
  parts.push_back(std::move(part));
  return true;
}

// Numbers, names, simple parameters, operators and parentheses. Anything that could hold a command is
// refused.
bool Parser::arithmetic(std::string& out, Span& span, bool stop_at_semicolon) {
  const size_t from = at_;
  int parentheses = 0;
  while (!at_end()) {
    const char c = peek();
    if (c == ')') {
      if (parentheses == 0) break;
      --parentheses;
      take(1, ByteRole::Word);
    } else if (c == '(') {
      ++parentheses;
      take(1, ByteRole::Word);
    } else if (c == ';') {
      break;
    } else if (c == '$') {
      size_t stop = at_ + 1;
      const bool braces = stop < end_ && text_[stop] == '{';
      if (braces) ++stop;
      if (braces && stop < end_ && text_[stop] == '#') ++stop;
      const size_t name = stop;
      if (stop < end_ && is_name_start(text_[stop])) {
        while (stop < end_ && is_name_char(text_[stop])) ++stop;
      } else if (stop < end_ && (is_digit(text_[stop]) || text_[stop] == '#' || text_[stop] == '?')) {
        ++stop;
      }
      if (stop == name) return refuse("arithmetic that is not understood");
      if (braces && (stop >= end_ || text_[stop] != '}')) return refuse("arithmetic that is not understood");
      if (braces) ++stop;
      take(stop - at_, ByteRole::Word);
    } else if (c == '#' && at_ > from && is_digit(text_[at_ - 1]) && is_name_char(peek(1))) {
      take(1, ByteRole::Word);  // 16#ff
    } else if (is_name_char(c) || c == ' ' ||
               std::string_view("+-*/%<>=!&|^~?:,").find(c) != std::string_view::npos) {
      take(1, ByteRole::Word);
    } else {
      return refuse("arithmetic that is not understood");
    }
  }
  if (at_end()) return refuse("arithmetic that is not closed");
  if (parentheses != 0 || (peek() == ';') != stop_at_semicolon)
    return refuse("arithmetic that is not understood");
  if (peek() == ')' && peek(1) != ')') return refuse("parentheses that may be arithmetic or commands");
  out = std::string(slice(from, at_));
  span = {static_cast<uint32_t>(from), position()};
  return true;
}

}  // namespace ttyward::syntax
