// Lists, pipelines, compound and simple commands.
#include <algorithm>
#include <array>

#include "base/utf8.h"
#include "syntax/parser.h"

namespace ttyward::syntax {
namespace {

constexpr auto kReserved = std::to_array<std::string_view>(
    {"!",    "[[", "]]",  "{",        "}",  "case", "coproc", "do",   "done", "elif",  "else",
     "esac", "fi", "for", "function", "if", "in",   "select", "then", "time", "until", "while"});

// Reserved words that end a list.
constexpr auto kClosers =
    std::to_array<std::string_view>({"then", "do", "done", "fi", "else", "elif", "esac", "}"});

// zsh has more of them.
constexpr auto kZshReserved = std::to_array<std::string_view>(
    {"foreach", "end", "repeat", "nocorrect", "noglob", "always", "declare", "typeset", "float", "integer",
     "local", "readonly", "export", "-", "builtin", "command", "exec"});

constexpr auto kDeclarations =
    std::to_array<std::string_view>({"declare", "typeset", "local", "export", "readonly"});

template <size_t N>
bool among(const std::array<std::string_view, N>& list, std::string_view word) {
  return std::find(list.begin(), list.end(), word) != list.end();
}

bool is_meta(char c) {
  return c == ' ' || c == '\t' || c == '\n' || c == ';' || c == '&' || c == '|' || c == '<' || c == '>' ||
         c == '(' || c == ')';
}

// Blanks, invisible and private characters: not one of them is a blank to every shell, or visible to every
// reader.
bool is_doubtful(char32_t c) {
  return (c >= 0x80 && c <= 0xA0) || c == 0xAD || c == 0x1680 || c == 0x180E ||
         (c >= 0x2000 && c <= 0x200F) || (c >= 0x2028 && c <= 0x202F) || (c >= 0x205F && c <= 0x206F) ||
         c == 0x3000 || c == 0xFEFF || (c >= 0xE000 && c <= 0xF8FF) || c >= 0xE0000;
}

}  // namespace

bool is_name_start(char c) {
  return c == '_' || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
}

bool is_name_char(char c) {
  return is_name_start(c) || (c >= '0' && c <= '9');
}

Parser::Parser(std::string_view text, const Reading& reading, std::vector<ByteRole>* roles)
    : text_(text), reading_(reading), roles_(roles), end_(text.size()) {
  if (roles_ != nullptr) roles_->assign(text.size(), ByteRole::Unread);
}

bool Parser::refuse(std::string why) {
  if (failed_) return false;
  failed_ = true;
  problem_ = {position(), std::move(why)};
  return false;
}

void Parser::take(size_t count, ByteRole role) {
  if (roles_ != nullptr) {
    for (size_t i = at_; i < at_ + count; ++i) (*roles_)[i] = role;
  }
  at_ += count;
}

// Bytes that some shell, locale or terminal takes for something else are refused before anything is read.
bool Parser::check_bytes() {
  for (size_t i = 0; i < text_.size(); ++i) {
    const auto c = static_cast<unsigned char>(text_[i]);
    if (c >= 0x80) {
      size_t next = i;
      const char32_t point = base::decode_utf8(text_, next);
      at_ = i;
      if (point == base::kReplacementCharacter) return refuse("bytes that are not UTF-8");
      if (is_doubtful(point)) return refuse("a character that is a blank, or invisible, to some readers");
      i = next - 1;
      continue;
    }
    if ((c < 0x20 && c != '\n' && c != '\t') || c == 0x7F) {
      at_ = i;
      return refuse("a control character");
    }
    if (c == '\t' && reading_.manner == Manner::Typed) {
      at_ = i;
      return refuse("a tab, which is a key when it is typed");
    }
  }
  at_ = 0;
  return true;
}

bool Parser::program(List& out) {
  if (!check_bytes()) return false;
  if (reading_.dialect == Dialect::Fish) return fish_program(out);
  if (!list(out, Within::Program, true)) return false;
  if (!at_end()) return refuse("a word or operator that does not belong here");
  return true;
}

// Blanks, backslash-newline and a comment. Called only where a token may begin.
bool Parser::gap() {
  while (!at_end()) {
    const char c = peek();
    if (c == ' ' || c == '\t') {
      take(1, ByteRole::Gap);
    } else if (c == '\\' && peek(1) == '\n') {
      // Joined lines must not make one operator of two.
      const char before = at_ > 0 ? text_[at_ - 1] : ' ';
      const bool behind_operator = before != ' ' && before != '\t' && before != '\n';
      take(2, ByteRole::Gap);
      if (at_end()) return refuse("a continued line without a next line");
      if (behind_operator && std::string_view("&|;<>()-!#{").find(peek()) != std::string_view::npos)
        return refuse("an operator that continues after a line end");
      if (outer_headers_ > 0 || !pending_.empty())
        return refuse("a continued line before the body of a here-document");
    } else if (c == '#') {
      if (zsh() && reading_.manner == Manner::Typed)
        return refuse("a comment, which an interactive zsh may run");
      size_t stop = at_;
      while (stop < end_ && text_[stop] != '\n') ++stop;
      take(stop - at_, ByteRole::Comment);
    } else {
      return true;
    }
  }
  return true;
}

bool Parser::newline() {
  if (outer_headers_ > 0) return refuse("a line end before the body of a here-document");
  take(1, ByteRole::Newline);
  std::vector<HereDoc*> bodies;
  bodies.swap(pending_);
  for (HereDoc* body : bodies) {
    if (!heredoc_body(*body)) return false;
  }
  return true;
}

// Any number of line ends, with blanks and comments between them.
bool Parser::newlines() {
  if (!gap()) return false;
  while (peek() == '\n') {
    if (!newline() || !gap()) return false;
  }
  return true;
}

// The reserved word at this place, if the next word is one, written plainly.
std::string_view Parser::reserved_word() const {
  size_t stop = at_;
  while (stop < end_ && !is_meta(text_[stop])) ++stop;
  const std::string_view candidate = slice(at_, stop);
  for (const std::string_view word : kReserved) {
    if (word != candidate) continue;
    if (word == "time" && posix()) return {};
    if ((word == "[[" || word == "]]") && posix()) return {};
    return word;
  }
  return {};
}

bool Parser::take_reserved(std::string_view word) {
  if (reserved_word() != word) return refuse("expected '" + std::string(word) + "'");
  take(word.size(), ByteRole::Operator);
  return true;
}

bool Parser::list_ends(Within within) {
  if (at_end()) return true;
  if (peek() == ')') return true;
  if (within == Within::CaseItem && starts_with(";;")) return true;
  return among(kClosers, reserved_word());
}

bool Parser::list(List& out, Within within, bool may_be_empty) {
  const Deeper deeper(depth_);
  if (!deeper.ok) return refuse("commands nested too deeply");
  if (!newlines()) return false;
  out.span.begin = position();
  while (!list_ends(within)) {
    AndOr& item = out.items.emplace_back();
    if (!and_or(item)) return false;
    if (!gap()) return false;
    if (peek() == ';') {
      if (peek(1) == ';') {
        if (within != Within::CaseItem) return refuse("';;' outside a case");
        break;
      }
      if (peek(1) == '&' || peek(1) == '|') return refuse("an operator that is not understood");
      take(1, ByteRole::Operator);
    } else if (peek() == '&') {
      if (peek(1) == '&' || peek(1) == '>' || peek(1) == ';' || peek(1) == '|' || peek(1) == '!')
        return refuse("an operator that is not understood");
      take(1, ByteRole::Operator);
      item.background = true;
      item.span.end = position();
    } else if (peek() != '\n') {
      break;
    }
    if (!newlines()) return false;
  }
  out.span.end = position();
  if (out.items.empty() && !may_be_empty) return refuse("a command is missing");
  return true;
}

bool Parser::and_or(AndOr& out) {
  out.span.begin = position();
  for (;;) {
    if (!pipeline(out.pipelines.emplace_back())) return false;
    out.span.end = out.pipelines.back().span.end;
    if (!gap()) return false;
    const bool conjunction = starts_with("&&");
    if (!conjunction && !starts_with("||")) return true;
    out.by_or.push_back(!conjunction);
    take(2, ByteRole::Operator);
    if (!newlines()) return false;
  }
}

bool Parser::pipeline(Pipeline& out) {
  out.span.begin = position();
  const std::string_view first = reserved_word();
  if (first == "!" || first == "time") {
    (first == "!" ? out.negated : out.timed) = true;
    take(first.size(), ByteRole::Operator);
    if (peek() != ' ' && peek() != '\t') return refuse("'" + std::string(first) + "' without a command");
    if (!gap()) return false;
    const std::string_view second = reserved_word();
    if (second == "!" || second == "time") return refuse("'!' and 'time' together");
    if (first == "time" && peek() == '-') return refuse("'time' with an option");
  }
  for (;;) {
    if (!command(out.commands.emplace_back())) return false;
    if (out.timed) {
      for (const Assignment& assigned : out.commands.front().assignments) {
        if (assigned.value.array) return refuse("an array after 'time'");
      }
    }
    out.span.end = out.commands.back().span.end;
    if (!gap()) return false;
    if (peek() != '|' || peek(1) == '|') return true;
    const bool with_stderr = peek(1) == '&';
    if (with_stderr && !bash()) return refuse("'|&' is read differently by different shells");
    out.with_stderr.push_back(with_stderr);
    take(with_stderr ? 2 : 1, ByteRole::Operator);
    if (!newlines()) return false;
    if (const std::string_view next = reserved_word(); next == "!" || next == "time")
      return refuse("'" + std::string(next) + "' inside a pipeline");
  }
}

bool Parser::command(Command& out) {
  const Deeper deeper(depth_);
  if (!deeper.ok) return refuse("commands nested too deeply");
  out.span.begin = position();
  bool ok = false;
  const std::string_view reserved = reserved_word();
  if (peek() == '(' && peek(1) == '(') {
    ok = arithmetic_command(out) && trailing_redirects(out);
  } else if (peek() == '(') {
    out.kind = CommandKind::Subshell;
    take(1, ByteRole::Operator);
    ok = list(out.lists.emplace_back(), Within::Parentheses, false);
    if (ok && peek() != ')') ok = refuse("a parenthesis that is not closed");
    if (ok) {
      take(1, ByteRole::Operator);
      ok = trailing_redirects(out);
    }
  } else if (!reserved.empty() && reserved != "in") {
    ok = compound(out, reserved) && trailing_redirects(out);
  } else {
    ok = simple(out);
  }
  out.span.end = position();
  while (out.span.end > out.span.begin && (text_[out.span.end - 1] == ' ' || text_[out.span.end - 1] == '\t'))
    --out.span.end;
  return ok;
}

bool Parser::compound(Command& out, std::string_view reserved) {
  if (reserved == "{") {
    out.kind = CommandKind::Group;
    take(1, ByteRole::Operator);
    if (!list(out.lists.emplace_back(), Within::Compound, false)) return false;
    return expect_list_end("}");
  }
  if (reserved == "if") return if_command(out);
  if (reserved == "while" || reserved == "until") return loop_command(out);
  if (reserved == "for") return for_command(out);
  if (reserved == "case") return case_command(out);
  if (reserved == "[[") return test_command(out);
  return refuse("'" + std::string(reserved) + "' is not understood here");
}

bool Parser::expect_list_end(std::string_view word) {
  return take_reserved(word);
}

bool Parser::if_command(Command& out) {
  out.kind = CommandKind::If;
  take(2, ByteRole::Operator);
  for (;;) {
    if (!list(out.lists.emplace_back(), Within::Compound, false) || !expect_list_end("then")) return false;
    if (!list(out.lists.emplace_back(), Within::Compound, false)) return false;
    if (reserved_word() != "elif") break;
    take(4, ByteRole::Operator);
  }
  if (reserved_word() == "else") {
    take(4, ByteRole::Operator);
    if (!list(out.lists.emplace_back(), Within::Compound, false)) return false;
  }
  return expect_list_end("fi");
}

bool Parser::loop_command(Command& out) {
  out.kind = peek() == 'w' ? CommandKind::While : CommandKind::Until;
  take(5, ByteRole::Operator);
  return list(out.lists.emplace_back(), Within::Compound, false) && expect_list_end("do") &&
         list(out.lists.emplace_back(), Within::Compound, false) && expect_list_end("done");
}

bool Parser::for_command(Command& out) {
  take(3, ByteRole::Operator);
  if (!gap()) return false;
  if (starts_with("((")) return arithmetic_for(out);
  out.kind = CommandKind::For;
  const size_t begin = at_;
  if (!is_name_start(peek())) return refuse("a loop variable is missing");
  size_t stop = at_;
  while (stop < end_ && is_name_char(text_[stop])) ++stop;
  if (stop < end_ && !is_meta(text_[stop])) return refuse("a loop variable that is not a name");
  take(stop - at_, ByteRole::Word);
  out.name = std::string(slice(begin, stop));
  if (!newlines()) return false;
  if (reserved_word() == "in") {
    out.has_in = true;
    take(2, ByteRole::Operator);
    for (;;) {
      if (!gap()) return false;
      if (peek() == ';' || peek() == '\n') break;
      if (at_end() || (is_meta(peek()) && !((peek() == '<' || peek() == '>') && peek(1) == '(')))
        return refuse("a loop without a list of values");
      if (!word(out.words.emplace_back(), Context::Argument)) return false;
      if (out.words.back().is_plain("esac")) return refuse("'esac' among the values of a loop");
    }
    if (peek() == ';') take(1, ByteRole::Operator);
  } else if (peek() == ';') {
    take(1, ByteRole::Operator);
  }
  if (!newlines()) return false;
  return take_reserved("do") && list(out.lists.emplace_back(), Within::Compound, false) &&
         expect_list_end("done");
}

bool Parser::arithmetic_for(Command& out) {
  if (!bash()) return refuse("a loop over arithmetic is read differently by different shells");
  out.kind = CommandKind::ArithmeticFor;
  take(2, ByteRole::Operator);
  for (int i = 0; i < 3; ++i) {
    if (!arithmetic(out.expressions.emplace_back(), out.expression_spans.emplace_back(), i < 2)) return false;
    if (i < 2) {
      if (peek() != ';') return refuse("a loop over arithmetic needs three parts");
      take(1, ByteRole::Operator);
    }
  }
  if (!starts_with("))")) return refuse("arithmetic that is not closed");
  take(2, ByteRole::Operator);
  if (!gap()) return false;
  if (peek() == ';') take(1, ByteRole::Operator);
  if (!newlines()) return false;
  return take_reserved("do") && list(out.lists.emplace_back(), Within::Compound, false) &&
         expect_list_end("done");
}

bool Parser::case_command(Command& out) {
  out.kind = CommandKind::Case;
  take(4, ByteRole::Operator);
  if (!gap()) return false;
  if (at_end() || is_meta(peek())) return refuse("a case without a word");
  if (!word(out.words.emplace_back(), Context::Argument) || !newlines() || !take_reserved("in") ||
      !newlines())
    return false;
  while (reserved_word() != "esac") {
    if (at_end()) return refuse("a case that is not closed");
    if (!case_item(out.cases.emplace_back())) return false;
  }
  return take_reserved("esac");
}

bool Parser::case_item(CaseItem& out) {
  out.span.begin = position();
  if (peek() == '(') {
    take(1, ByteRole::Operator);
    if (!gap()) return false;
    if (reserved_word() == "esac") return refuse("'esac' as a pattern");
  }
  for (;;) {
    if (at_end() || is_meta(peek())) return refuse("a pattern is missing");
    if (!word(out.patterns.emplace_back(), Context::Argument) || !gap()) return false;
    if (peek() != '|') break;
    take(1, ByteRole::Operator);
    if (!gap()) return false;
  }
  if (peek() != ')') return refuse("a pattern that is not closed");
  take(1, ByteRole::Operator);
  if (!list(out.body, Within::CaseItem, true)) return false;
  out.span.end = position();
  if (starts_with(";;")) {
    if (peek(2) == '&' || peek(2) == ';') return refuse("an operator that is not understood");
    take(2, ByteRole::Operator);
    return newlines();
  }
  if (reserved_word() != "esac") return refuse("a case item that is not closed");
  return true;
}

bool Parser::trailing_redirects(Command& out) {
  for (;;) {
    if (!gap()) return false;
    if (!at_redirect()) break;
    if (!redirect(out)) return false;
  }
  // What follows a compound command directly must be an operator or a line end.
  if (!at_end() && !is_meta(peek())) return refuse("a word directly after a compound command");
  if (peek() == '(') return refuse("a parenthesis directly after a compound command");
  return true;
}

bool Parser::simple(Command& out) {
  out.kind = CommandKind::Simple;
  for (;;) {
    if (!gap()) return false;
    const char c = peek();
    if (at_end() || c == '\n' || c == ';' || c == ')' || c == '|') break;
    if (at_redirect()) {
      if (!redirect(out)) return false;
      continue;
    }
    if (c == '&') break;
    if (c == '(') {
      if (out.words.size() == 1 && out.assignments.empty() && out.redirects.empty()) return function(out);
      return refuse("a parenthesis among words");
    }
    if (out.words.empty()) {
      bool found = false;
      if (!assignment(out, found)) return false;
      if (found) continue;
    }
    if (!simple_word(out)) return false;
  }
  if (out.words.empty() && out.assignments.empty() && out.redirects.empty())
    return refuse("a command is missing");
  if (zsh() && out.words.empty() && out.assignments.empty())
    return refuse("a redirection without a command runs one in zsh");
  return true;
}

bool Parser::simple_word(Command& out) {
  const bool first = out.words.empty();
  bool declaration = false;
  if (!first) {
    const Word& program = out.words.front();
    declaration = out.redirects.empty() &&
                  std::any_of(kDeclarations.begin(), kDeclarations.end(),
                              [&](std::string_view name) { return program.is_plain(name.data()); });
  }
  Word& added = out.words.emplace_back();
  if (!word(added, first ? Context::Command : declaration ? Context::Declaration : Context::Argument))
    return false;
  if (!first || added.parts.size() != 1) return true;
  const Part& part = added.parts.front();
  if (part.kind != PartKind::Text || part.quoting != Quoting::None) return true;
  const bool reserved = part.text != "in" && among(kReserved, part.text) &&
                        !(posix() && (part.text == "time" || part.text == "coproc"));
  if (reserved || part.text == "in") return refuse("'" + part.text + "' where a command is expected");
  if (zsh() && among(kZshReserved, part.text))
    return refuse("'" + part.text + "' changes how zsh reads a line");
  return true;
}

// name ( ) compound-command
bool Parser::function(Command& out) {
  const Word& name = out.words.front();
  const bool plain = name.parts.size() == 1 && name.parts[0].kind == PartKind::Text &&
                     name.parts[0].quoting == Quoting::None;
  const std::string_view more = bash() ? ":.-+@%,_" : "_";
  if (!plain || (!bash() && !is_name_start(name.parts[0].text[0])) ||
      !std::all_of(name.parts[0].text.begin(), name.parts[0].text.end(),
                   [&](char c) { return is_name_char(c) || more.find(c) != std::string_view::npos; }))
    return refuse("a function whose name is not plain");
  take(1, ByteRole::Operator);
  if (!gap()) return false;
  if (peek() != ')') return refuse("a parenthesis among words");
  take(1, ByteRole::Operator);
  if (!newlines()) return false;
  out.kind = CommandKind::Function;
  out.name = name.parts[0].text;
  out.words.clear();
  out.body = std::make_unique<Command>();
  const std::string_view reserved = reserved_word();
  if (peek() != '(' && reserved != "{" && reserved != "if" && reserved != "while" && reserved != "until" &&
      reserved != "for" && reserved != "case")
    return refuse("a function without a body in braces or parentheses");
  if (starts_with("((")) return refuse("a function whose body is arithmetic");
  return command(*out.body);
}

// NAME=value, NAME+=value, NAME[n]=value, NAME=( … )
bool Parser::assignment(Command& out, bool& found) {
  if (!is_name_start(peek())) return true;
  size_t stop = at_;
  while (stop < end_ && is_name_char(text_[stop])) ++stop;
  const size_t name_end = stop;
  size_t subscript_begin = 0;
  size_t subscript_end = 0;
  if (stop < end_ && text_[stop] == '[') {
    // bash reads on to the closing bracket, over blanks and operators.
    if (!bash()) return refuse("a subscript in the first word of a command");
    subscript_begin = ++stop;
    while (stop < end_ && text_[stop] >= '0' && text_[stop] <= '9') ++stop;
    subscript_end = stop;
    if (stop == subscript_begin || stop >= end_ || text_[stop] != ']')
      return refuse("a subscript that is not a number");
    ++stop;
    if (stop >= end_ || (text_[stop] != '=' && text_[stop] != '+'))
      return refuse("a subscript in the first word of a command");
  }
  const bool append = stop + 1 < end_ && text_[stop] == '+' && text_[stop + 1] == '=';
  if (append) ++stop;
  if (stop < end_ && text_[stop] == '\\' && stop + 1 < end_ && text_[stop + 1] == '\n')
    return refuse("a name that continues after a line end");
  if (stop >= end_ || text_[stop] != '=') {
    if (subscript_end != 0) return refuse("a subscript in the first word of a command");
    return true;
  }
  if (append && !bash() && !zsh()) return refuse("'+=' is a command to some shells");
  found = true;
  Assignment& assigned = out.assignments.emplace_back();
  assigned.span.begin = position();
  assigned.name = std::string(slice(at_, name_end));
  if (subscript_end != 0) assigned.subscript = std::string(slice(subscript_begin, subscript_end));
  assigned.append = append;
  take(stop + 1 - at_, ByteRole::Word);
  assigned.value.span = {position(), position()};
  if (peek() == '(') {
    if (subscript_end != 0) return refuse("an array inside an array");
    if (!out.redirects.empty()) return refuse("an array after a redirection");
    if (!array_elements(assigned.value)) return false;
  } else if (peek() == '~' && zsh()) {
    return refuse("a tilde after an assignment");
  } else if (!at_end() && !is_meta(peek())) {
    if (!word(assigned.value, Context::Argument)) return false;
  } else if ((peek() == '<' || peek() == '>') && peek(1) == '(') {
    return refuse("a process substitution in an assignment");
  }
  assigned.span.end = position();
  return true;
}

// The ( … ) of an array. What follows it directly is read differently by every shell.
bool Parser::array_elements(Word& out) {
  if (!bash() && !zsh()) return refuse("an array is read differently by different shells");
  out.array = true;
  take(1, ByteRole::Operator);
  for (;;) {
    if (!newlines()) return false;
    if (peek() == ')') break;
    if (at_end() || is_meta(peek())) return refuse("an array that is not understood");
    if (peek() == '[') return refuse("an array with keys");
    if (!word(out.elements.emplace_back(), Context::Argument)) return false;
  }
  take(1, ByteRole::Operator);
  out.span.end = position();
  if (!at_end() && std::string_view(" \t\n;)").find(peek()) == std::string_view::npos)
    return refuse("text directly after an array");
  return true;
}

tl::expected<List, NotUnderstood> parse(std::string_view text, const Reading& reading,
                                        std::vector<ByteRole>* roles) {
  Parser parser(text, reading, roles);
  List program;
  if (!parser.program(program)) return tl::unexpected<NotUnderstood>(parser.problem());
  return program;
}

}  // namespace ttyward::syntax
