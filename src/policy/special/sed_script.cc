#include "policy/special/sed_script.h"

#include <algorithm>

namespace ttyward::policy::special {
namespace {

constexpr std::string_view kPlainCommands = "=dDgGhHnNpPxzF";

bool is_digit(char c) {
  return c >= '0' && c <= '9';
}

class Reader {
 public:
  explicit Reader(std::string_view text) : text_(text) {}

  SedScript run() {
    while (at_ < text_.size() && script_.problem.empty()) statement();
    if (script_.problem.empty() && depth_ != 0) fail("a sed script with a brace too many");
    return std::move(script_);
  }

 private:
  // '\0' at the end; a script on a command line holds no such byte.
  char peek() const { return at_ < text_.size() ? text_[at_] : '\0'; }
  void skip(std::string_view these) {
    while (at_ < text_.size() && these.find(text_[at_]) != std::string_view::npos) ++at_;
  }
  void blanks() { skip(" \t"); }
  void digits() { skip("0123456789"); }
  void fail(std::string why) {
    if (script_.problem.empty()) script_.problem = std::move(why);
    at_ = text_.size();
  }
  void not_understood() { fail("a sed script that is not understood"); }

  // What may follow a command. Anything else is an error in GNU sed and may be more in another.
  void end_of_command() {
    blanks();
    const char c = peek();
    if (at_ >= text_.size() || c == '}' || c == '#') return;
    if (c != ';' && c != '\n') return not_understood();
    ++at_;
  }

  std::string file_name() {
    blanks();
    const size_t end = std::min(text_.find('\n', at_), text_.size());
    std::string name(text_.substr(at_, end - at_));
    at_ = end;
    if (name.empty()) not_understood();
    return name;
  }

  // Text of a, i and c: up to a line end that no backslash precedes.
  void text() {
    blanks();
    if (peek() == '\\') {
      ++at_;
      blanks();
      if (peek() == '\n') ++at_;
      if (at_ >= text_.size()) return not_understood();  // another -e would go on here
    } else if (at_ >= text_.size() || peek() == '\n') {
      return not_understood();
    }
    while (at_ < text_.size() && text_[at_] != '\n') {
      if (text_[at_] == '\\') {
        ++at_;
        if (at_ >= text_.size()) return not_understood();
      }
      ++at_;
    }
  }

  // GNU sed ends a label at a blank or a semicolon, others only at the line's end. What follows is read as
  // commands, so nothing may hide in a label.
  void label(bool required) {
    blanks();
    const size_t begin = at_;
    while (at_ < text_.size() && std::string_view(" \t\n;}").find(text_[at_]) == std::string_view::npos) {
      if (text_[at_] == '{' || text_[at_] == '#') return not_understood();
      ++at_;
    }
    if (required && at_ == begin) return not_understood();
    end_of_command();
  }

  // A delimiter inside brackets ends the expression in GNU sed and does not in others. Escaped, it ends none.
  bool bracket_is_plain(char delimiter) const {
    size_t close = text_.find(']', at_ + 2);
    if (text_.substr(at_ + 1).starts_with("^]")) close = text_.find(']', at_ + 3);
    if (close == std::string_view::npos) return text_.find(delimiter, at_) == std::string_view::npos;
    for (size_t i = at_ + 1; i < close; ++i) {
      if (text_[i] == '\\') {
        ++i;
      } else if (text_[i] == delimiter) {
        return false;
      }
    }
    return true;
  }

  bool delimited(char delimiter, bool regex) {
    for (; at_ < text_.size(); ++at_) {
      const char c = text_[at_];
      if (c == '\\') {
        ++at_;
      } else if (c == delimiter) {
        ++at_;
        return true;
      } else if (c == '\n') {
        break;
      } else if (regex && c == '[' && !bracket_is_plain(delimiter)) {
        fail("a sed expression that can be read in two ways");
        return false;
      }
    }
    not_understood();
    return false;
  }

  bool address(bool second) {
    const char c = peek();
    if (is_digit(c)) {
      digits();
      if (peek() == '~') {
        ++at_;
        digits();
      }
      return true;
    }
    if (c == '$') {
      ++at_;
      return true;
    }
    if (second && (c == '+' || c == '~')) {
      ++at_;
      if (!is_digit(peek())) not_understood();
      digits();
      return true;
    }
    if (c != '/' && c != '\\') return false;
    char delimiter = '/';
    if (c == '\\') {
      ++at_;
      delimiter = peek();
      if (at_ >= text_.size() || delimiter == '\n' || delimiter == '\\' || delimiter == '[') {
        not_understood();
        return false;
      }
    }
    ++at_;
    if (!delimited(delimiter, true)) return false;
    skip("IM");
    return true;
  }

  void substitute() {
    const char delimiter = peek();
    if (at_ >= text_.size() || delimiter == '\n' || delimiter == '\\' || delimiter == '[')
      return not_understood();
    ++at_;
    if (!delimited(delimiter, true)) return;
    const size_t begin = at_;
    if (!delimited(delimiter, false)) return;
    const std::string_view replacement = text_.substr(begin, at_ - begin - 1);
    while (at_ < text_.size()) {
      const char c = text_[at_];
      if (c == 'e') {
        std::string run;
        for (const char one : replacement) {
          if (one != '\\') run.push_back(one);
        }
        script_.runs.push_back(std::move(run));
        return fail("sed runs what it edited as a command");
      }
      if (c == 'w') {
        ++at_;
        script_.writes.push_back(file_name());
        return;
      }
      if (std::string_view("gpiImM0123456789").find(c) == std::string_view::npos) break;
      ++at_;
    }
    end_of_command();
  }

  void transliterate() {
    const char delimiter = peek();
    if (at_ >= text_.size() || delimiter == '\n' || delimiter == '\\') return not_understood();
    ++at_;
    if (delimited(delimiter, false) && delimited(delimiter, false)) end_of_command();
  }

  void statement() {
    skip(" \t\n;");
    if (at_ >= text_.size()) return;
    if (peek() == '#') {
      at_ = std::min(text_.find('\n', at_), text_.size());
      return;
    }
    if (address(false)) {
      blanks();
      if (peek() == ',') {
        ++at_;
        blanks();
        if (!address(true)) return not_understood();
      }
    }
    if (!script_.problem.empty()) return;
    skip(" \t!");
    if (at_ >= text_.size()) return not_understood();
    command(text_[at_++]);
  }

  void command(char name) {
    if (kPlainCommands.find(name) != std::string_view::npos) return end_of_command();
    switch (name) {
      case '{':
        ++depth_;
        return;
      case '}':
        if (--depth_ < 0) return not_understood();
        return end_of_command();
      case 'q':
      case 'Q':
      case 'l':
      case 'L':
        blanks();
        digits();
        return end_of_command();
      case 'a':
      case 'i':
      case 'c':
        return text();
      case ':':
        return label(true);
      case 'b':
      case 't':
      case 'T':
        return label(false);
      case 'r':
      case 'R':
        script_.reads.push_back(file_name());
        return;
      case 'w':
      case 'W':
        script_.writes.push_back(file_name());
        return;
      case 's':
        return substitute();
      case 'y':
        return transliterate();
      case 'e':
        script_.runs.emplace_back(text_.substr(at_, text_.find('\n', at_) - at_));
        return fail("sed runs a command");
      default:
        return not_understood();
    }
  }

  std::string_view text_;
  size_t at_ = 0;
  int depth_ = 0;
  SedScript script_;
};

}  // namespace

SedScript read_sed_script(std::string_view text) {
  return Reader(text).run();
}

}  // namespace ttyward::policy::special
