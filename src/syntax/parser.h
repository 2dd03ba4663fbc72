// The inside of parse(): a recursive-descent parser without look-back.
//
// Every function reads one construct at `at_` and returns false after refuse().
// Nothing is read again after that.
#pragma once

#include "syntax/parse.h"

namespace ttyward::syntax {

class Parser {
 public:
  Parser(std::string_view text, const Reading& reading, std::vector<ByteRole>* roles);

  bool program(List& out);
  const NotUnderstood& problem() const { return problem_; }

 private:
  // What ends a list: `)` or a reserved word, both left unread.
  enum class Within : uint8_t { Program, Parentheses, Compound, CaseItem };
  enum class Context : uint8_t {
    Argument,
    Command,      // the first word of a command: it may be a reserved word or an assignment
    Operand,      // inside [[ ]]
    Regex,        // behind =~
    Declaration,  // an argument of declare and its kin: name=( … ) is an array
  };

  bool bash() const { return reading_.dialect == Dialect::Bash; }
  bool zsh() const { return reading_.dialect == Dialect::Zsh; }
  bool posix() const { return reading_.dialect == Dialect::Posix; }
  char peek(size_t ahead = 0) const { return at_ + ahead < end_ ? text_[at_ + ahead] : '\0'; }
  bool at_end() const { return at_ >= end_; }
  bool starts_with(std::string_view what) const { return text_.substr(at_, end_ - at_).starts_with(what); }
  std::string_view slice(size_t from, size_t to) const { return text_.substr(from, to - from); }
  uint32_t position() const { return static_cast<uint32_t>(at_); }
  bool refuse(std::string why);
  void take(size_t count, ByteRole role);
  bool check_bytes();

  // parse_list.cc
  bool gap();
  bool newlines();
  bool newline();
  bool list(List& out, Within within, bool may_be_empty);
  bool list_ends(Within within);
  bool and_or(AndOr& out);
  bool pipeline(Pipeline& out);
  bool command(Command& out);
  bool compound(Command& out, std::string_view reserved);
  bool if_command(Command& out);
  bool loop_command(Command& out);
  bool for_command(Command& out);
  bool arithmetic_for(Command& out);
  bool case_command(Command& out);
  bool case_item(CaseItem& out);
  bool trailing_redirects(Command& out);
  bool simple(Command& out);
  bool simple_word(Command& out);
  bool function(Command& out);
  bool assignment(Command& out, bool& found);
  bool array_elements(Word& out);
  std::string_view reserved_word() const;
  bool take_reserved(std::string_view word);
  bool expect_list_end(std::string_view word);

  // parse_words.cc
  bool word(Word& out, Context context);
  bool check_word(const Word& word, Context context);
  bool ends_word(char c) const;
  void add_text(std::vector<Part>& parts, Quoting quoting, size_t from, size_t to, std::string_view text);
  bool bare_character(std::vector<Part>& parts);
  bool backslash(std::vector<Part>& parts);
  bool single_quotes(std::vector<Part>& parts);
  bool ansi_c_quotes(std::vector<Part>& parts);
  bool double_quotes(std::vector<Part>& parts);
  bool dollar(std::vector<Part>& parts, Quoting quoting);
  bool braced(std::vector<Part>& parts, Quoting quoting);
  bool braced_operator(Expansion& expansion, Quoting quoting);
  bool braced_word(std::vector<Part>& parts, Quoting quoting, char stop);
  bool substring_number(long& out);
  bool command_substitution(std::vector<Part>& parts, Quoting quoting);
  bool backquotes(std::vector<Part>& parts, Quoting quoting);
  bool process_substitution(std::vector<Part>& parts);
  bool arithmetic_substitution(std::vector<Part>& parts, Quoting quoting);
  // Reads to the end of an arithmetic expression: `))`, or `;` where `stop_at_semicolon` is set.
  bool arithmetic(std::string& out, Span& span, bool stop_at_semicolon);

  // parse_redirect.cc
  bool at_redirect() const;
  bool redirect(Command& out);
  bool redirect_target(Redirect& out);
  bool heredoc_delimiter(HereDoc& out);
  bool heredoc_body(HereDoc& out);
  bool heredoc_content(HereDoc& out);

  // parse_condition.cc
  bool test_command(Command& out);
  bool test_or(std::vector<TestToken>& out);
  bool test_and(std::vector<TestToken>& out);
  bool test_not(std::vector<TestToken>& out);
  bool test_primary(std::vector<TestToken>& out);
  bool test_gap();
  bool arithmetic_command(Command& out);

  // parse_fish.cc
  bool fish_program(List& out);
  bool fish_command(Command& out);
  bool fish_word(Word& out);
  bool fish_redirect(Command& out);

  std::string_view text_;
  Reading reading_;
  std::vector<ByteRole>* roles_;
  size_t at_ = 0;
  size_t end_ = 0;
  int depth_ = 0;
  int in_substitution_ = 0;        // inside $( ) or backquotes
  int outer_headers_ = 0;          // here-documents of enclosing lists whose bodies are still to come
  std::vector<HereDoc*> pending_;  // here-documents whose bodies begin after this line
  bool failed_ = false;
  NotUnderstood problem_;
};

// Counts nesting; `ok` is false when it is too deep.
class Deeper {
 public:
  explicit Deeper(int& depth) : depth_(depth), ok(++depth <= kMaxDepth) {}
  ~Deeper() { --depth_; }
  Deeper(const Deeper&) = delete;
  Deeper& operator=(const Deeper&) = delete;

 private:
  int& depth_;

 public:
  const bool ok;
};

}  // namespace ttyward::syntax
