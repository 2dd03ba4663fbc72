#include "policy/special/awk_program.h"

#include <algorithm>
#include <array>

namespace ttyward::policy::special {
namespace {

enum class Kind : uint8_t { Name, Keyword, Number, String, Regex, Symbol, NewLine, End };

struct Token {
  Kind kind = Kind::End;
  std::string text;  // a string's value; otherwise as written
};

constexpr auto kKeywords = std::to_array<std::string_view>(
    {"BEGIN",    "END",    "BEGINFILE", "ENDFILE",  "if",     "else",     "while",  "for",    "do",
     "print",    "printf", "return",    "exit",     "delete", "in",       "case",   "switch", "default",
     "function", "func",   "next",      "nextfile", "break",  "continue", "getline"});

bool is_name_char(char c, bool first) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_' || (!first && c >= '0' && c <= '9');
}

// What a / means after a token. Unclear: awks differ.
enum class Slash : uint8_t { Regex, Divides, Unclear };

class Lexer {
 public:
  explicit Lexer(std::string_view text) : text_(text) {}

  // False: not understood.
  bool run(std::vector<Token>& out) {
    while (at_ < text_.size()) {
      const char c = text_[at_];
      if (c == ' ' || c == '\t') {
        ++at_;
      } else if (c == '\\') {  // only a line may go on
        size_t next = at_ + 1;
        if (next < text_.size() && text_[next] == '\r') ++next;
        if (next >= text_.size() || text_[next] != '\n') return false;
        at_ = next + 1;
      } else if (c == '\n') {
        ++at_;
        put(out, Kind::NewLine, "\n");
      } else if (c == '#') {
        at_ = std::min(text_.find('\n', at_), text_.size());
      } else if (c == '"') {
        if (!string(out)) return false;
      } else if (c == '/' && slash_ == Slash::Unclear) {
        return false;
      } else if (c == '/' && slash_ == Slash::Regex) {
        if (!regex(out)) return false;
      } else if (is_name_char(c, true)) {
        name(out);
      } else if ((c >= '0' && c <= '9') || (c == '.' && digit_at(at_ + 1))) {
        if (!number(out)) return false;
      } else if (static_cast<unsigned char>(c) < 0x20 || static_cast<unsigned char>(c) >= 0x7f) {
        return false;
      } else if (!symbol(out)) {
        return false;
      }
    }
    return parens_.empty();
  }

 private:
  void put(std::vector<Token>& out, Kind kind, std::string text) {
    const bool operand =
        kind == Kind::Name || kind == Kind::Number || kind == Kind::String || kind == Kind::Regex;
    slash_ = operand ? Slash::Divides : Slash::Regex;
    if (kind == Kind::Keyword && text == "getline") slash_ = Slash::Unclear;
    out.push_back({kind, std::move(text)});
  }

  bool string(std::vector<Token>& out) {
    std::string value;
    bool plain = true;
    for (++at_; at_ < text_.size() && text_[at_] != '"'; ++at_) {
      if (text_[at_] == '\n') return false;
      if (text_[at_] == '\\') {
        plain = false;
        ++at_;
        if (at_ >= text_.size()) return false;
      }
      value.push_back(text_[at_]);
    }
    if (at_ >= text_.size()) return false;
    ++at_;
    // Escapes are not worked out: such a string names no file that is known.
    put(out, Kind::String, plain ? value : std::string());
    return true;
  }

  bool regex(std::vector<Token>& out) {
    bool bracket = false;
    bool with_class = false;  // a class such as [:alpha:] stands in this bracket expression
    for (++at_; at_ < text_.size(); ++at_) {
      const char c = text_[at_];
      if (c == '\n') return false;
      if (c == '\\') {
        ++at_;
        if (at_ >= text_.size()) return false;
      } else if (c == '[' && !bracket) {
        bracket = true;
        if (at_ + 1 < text_.size() && text_[at_ + 1] == '^') ++at_;
        if (at_ + 1 < text_.size() && text_[at_ + 1] == ']') ++at_;
        with_class = false;
      } else if (c == '[') {
        // Awks without classes end the expression at the first ]: a second [ would be read differently.
        const char kind = at_ + 1 < text_.size() ? text_[at_ + 1] : ' ';
        if (with_class) return false;
        if (kind != ':' && kind != '.' && kind != '=') continue;
        const size_t end = text_.find(std::string{kind, ']'}, at_ + 2);
        if (end == std::string_view::npos) return false;
        if (text_.substr(at_, end - at_).find_first_of("/\n\\") != std::string_view::npos) return false;
        with_class = true;
        at_ = end + 1;
      } else if (c == ']') {
        bracket = false;
      } else if (c == '/') {
        if (bracket) return false;  // gawk reads on, others end here
        ++at_;
        put(out, Kind::Regex, {});
        return true;
      }
    }
    return false;
  }

  void name(std::vector<Token>& out) {
    const size_t begin = at_;
    while (at_ < text_.size() && is_name_char(text_[at_], false)) ++at_;
    std::string word(text_.substr(begin, at_ - begin));
    const bool keyword = std::find(kKeywords.begin(), kKeywords.end(), word) != kKeywords.end();
    put(out, keyword ? Kind::Keyword : Kind::Name, std::move(word));
  }

  bool digit_at(size_t at) const { return at < text_.size() && text_[at] >= '0' && text_[at] <= '9'; }

  // Where a number ends and a name begins differs between awks (0x1f, 1e): such a number is not understood.
  bool number(std::vector<Token>& out) {
    const size_t begin = at_;
    while (digit_at(at_)) ++at_;
    if (at_ < text_.size() && text_[at_] == '.') ++at_;
    while (digit_at(at_)) ++at_;
    if (at_ < text_.size() && (text_[at_] == 'e' || text_[at_] == 'E')) {
      const bool sign = at_ + 1 < text_.size() && (text_[at_ + 1] == '+' || text_[at_ + 1] == '-');
      if (!digit_at(at_ + (sign ? 2 : 1))) return false;
      at_ += sign ? 2 : 1;
      while (digit_at(at_)) ++at_;
    }
    if (at_ < text_.size() && (is_name_char(text_[at_], false) || text_[at_] == '.')) return false;
    put(out, Kind::Number, std::string(text_.substr(begin, at_ - begin)));
    return true;
  }

  bool symbol(std::vector<Token>& out) {
    static constexpr std::string_view kLong[] = {"**=", "|&", "||", "&&", "++", "--", "+=", "-=", "*=", "/=",
                                                 "%=",  "^=", "**", "==", "<=", ">=", ">>", "!=", "!~"};
    std::string_view found = text_.substr(at_, 1);
    for (const std::string_view candidate : kLong) {
      if (text_.substr(at_).starts_with(candidate)) {
        found = candidate;
        break;
      }
    }
    if (std::string_view("{}()[];,+-*/%^!<>|&?:~$=@").find(found[0]) == std::string_view::npos) return false;
    if (found == "&") return false;
    const bool operand_before = slash_ == Slash::Divides;
    at_ += found.size();
    if (found == "(") {
      // The ) of `if (…)` is followed by a statement. Some awks read a / there as a division all the same.
      const bool condition = !out.empty() && out.back().kind == Kind::Keyword &&
                             (out.back().text == "if" || out.back().text == "while" ||
                              out.back().text == "for" || out.back().text == "switch");
      parens_.push_back(condition ? 'c' : '(');
    } else if (found == "[") {
      parens_.push_back('[');
    }
    Slash slash = Slash::Regex;
    if (found == ")" || found == "]") {
      if (parens_.empty()) return false;
      const char open = parens_.back();
      parens_.pop_back();
      if ((found == "]") != (open == '[')) return false;
      slash = open != 'c' ? Slash::Divides : Slash::Unclear;
    } else if (found == "++" || found == "--") {
      slash = operand_before ? Slash::Divides : Slash::Unclear;
    }
    put(out, Kind::Symbol, std::string(found));
    slash_ = slash;
    return true;
  }

  std::string_view text_;
  size_t at_ = 0;
  Slash slash_ = Slash::Regex;
  std::string parens_;
};

class Reader {
 public:
  Reader(const std::vector<Token>& tokens, AwkProgram& program) : tokens_(tokens), program_(program) {}

  void run() {
    for (at_ = 0; at_ < tokens_.size(); ++at_) token();
  }

 private:
  const Token& at(size_t index) const {
    static const Token kEnd;
    return index < tokens_.size() ? tokens_[index] : kEnd;
  }
  bool is(size_t index, std::string_view symbol) const {
    return at(index).kind == Kind::Symbol && at(index).text == symbol;
  }
  bool ends_statement(size_t index) const {
    const Token& token = at(index);
    return token.kind == Kind::End || token.kind == Kind::NewLine || is(index, ";") || is(index, "}");
  }
  bool constant(size_t index) const { return at(index).kind == Kind::String && !at(index).text.empty(); }

  void token() {
    const Token& token = tokens_[at_];
    if (token.kind == Kind::NewLine) {
      // After these a statement goes on in the next line.
      const bool goes_on = at_ > 0 && (is(at_ - 1, ",") || is(at_ - 1, "&&") || is(at_ - 1, "||") ||
                                       is(at_ - 1, "?") || is(at_ - 1, ":"));
      printing_ = printing_ && (goes_on || depth_ > print_depth_);
      return;
    }
    if (token.kind == Kind::Name) return name(token.text);
    if (token.kind == Kind::Keyword) {
      if (token.text == "print" || token.text == "printf") {
        printing_ = true;
        print_depth_ = depth_;
      } else if (token.text == "getline") {
        getline();
      }
      return;
    }
    if (token.kind != Kind::Symbol) return;
    const std::string_view symbol = token.text;
    if (symbol == "(" || symbol == "[") ++depth_;
    if (symbol == ")" || symbol == "]") --depth_;
    if ((symbol == ";" || symbol == "}" || symbol == "{") && depth_ <= print_depth_) printing_ = false;
    if (symbol == "|" || symbol == "|&") program_.runs_commands = true;
    if (symbol == "@") program_.loads_code = true;
    // In a print statement, outside parentheses, > sends the output to a file; elsewhere it compares.
    if ((symbol == ">" || symbol == ">>") && printing_ && depth_ <= print_depth_) {
      if (constant(at_ + 1) && ends_statement(at_ + 2)) {
        program_.writes.push_back(at(at_ + 1).text);
      } else {
        program_.writes_unknown = true;
      }
    } else if (symbol == ">>") {
      program_.writes_unknown = true;
    }
  }

  void name(std::string_view name) {
    if (name == "system" || name == "extension") {
      program_.runs_commands = true;
    } else if (name == "ARGV" || name == "SYMTAB" || name == "FUNCTAB") {
      program_.changes_input = true;
    } else if (name == "PROCINFO") {
      program_.changes_input |= !(is(at_ + 1, "[") && at(at_ + 2).text == "sorted_in" && is(at_ + 3, "]"));
    } else if (name == "ENVIRON") {
      if (is(at_ + 1, "[") && constant(at_ + 2) && is(at_ + 3, "]")) {
        program_.environment.push_back(at(at_ + 2).text);
      } else {
        program_.reads_environment = true;
      }
    }
  }

  // getline, getline var, getline < file, getline var < file. Without a file it reads on in its input.
  void getline() {
    size_t next = at_ + 1;
    if (is(next, "$")) {
      next += 2;
    } else if (at(next).kind == Kind::Name) {
      ++next;
      if (is(next, "[")) {
        int depth = 0;
        for (; at(next).kind != Kind::End; ++next) {
          if (is(next, "[")) ++depth;
          if (is(next, "]") && --depth == 0) break;
        }
        ++next;
      }
    }
    if (!is(next, "<")) {
      const bool plain = ends_statement(next) || is(next, ")") || is(next, ">");
      program_.reads_unknown |= !plain;
      return;
    }
    const bool single = constant(next + 1) && (ends_statement(next + 2) || is(next + 2, ")"));
    if (single) {
      program_.reads.push_back(at(next + 1).text);
    } else {
      program_.reads_unknown = true;
    }
  }

  const std::vector<Token>& tokens_;
  AwkProgram& program_;
  size_t at_ = 0;
  int depth_ = 0;
  int print_depth_ = 0;
  bool printing_ = false;
};

}  // namespace

AwkProgram read_awk_program(std::string_view text) {
  AwkProgram program;
  std::vector<Token> tokens;
  if (!Lexer(text).run(tokens)) {
    program.problem = "an awk program that is not understood";
    return program;
  }
  Reader(tokens, program).run();
  return program;
}

}  // namespace ttyward::policy::special
