// From the words of the syntax tree to the arguments a program would get.
//
// The tree says what is quoted and what is expanded; here expansions are worked
// out as far as they are known: variables with constant values, braces, tilde,
// substitutions whose output is known.
//
// What is not constant is kept as a mark inside the text. Marks are control
// characters, which never reach this code from outside: text_screen and the
// parser refuse them.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "policy/verdict.h"
#include "syntax/parse.h"
#include "syntax/tree.h"

namespace ttyward::policy {

inline constexpr char kAny = '\x01';        // any text, still one argument
inline constexpr char kAnyFields = '\x02';  // any text, any number of arguments
inline constexpr char kDigits = '\x03';     // some number
inline constexpr char kStar = '\x04';       // a live *
inline constexpr char kOne = '\x05';        // a live ? or [...]
inline constexpr char kListed = '\x06';     // a file name from a known lister, any number of arguments

struct Field {
  std::string text;
  std::string other;  // a second value it may have (`${x:-this}`); empty = none
  Span span;
  bool disguised = false;     // written so that it does not look like what it is
  bool quoted = false;        // some part was quoted
  bool expanded = false;      // some part came out of an expansion
  bool from_network = false;  // some part is what a command read from another machine

  bool constant() const { return text.find_first_of("\x01\x02\x03\x04\x05\x06") == std::string::npos; }
  bool has(char mark) const { return text.find(mark) != std::string::npos; }
  bool may_split() const { return has(kAnyFields) || has(kListed); }
  // The first character may be a dash: a glob or an unknown could turn out to be an option.
  bool may_be_option() const {
    return text.empty() ? false
                        : text[0] == kAny || text[0] == kAnyFields || text[0] == kStar || text[0] == kOne ||
                              text[0] == kListed;
  }
  bool operator==(const Field&) const = default;
};

// A value as variables hold it: text with marks; arrays are several.
using Value = std::vector<std::string>;

// What a substitution prints, as far as known.
struct Printed {
  std::string text;
  bool from_network = false;
};

// What expanding a word needs from the shell it is in.
class ExpansionHost {
 public:
  virtual ~ExpansionHost() = default;
  // nullptr: nothing is known about the variable.
  virtual const Value* variable(std::string_view name) = 0;
  // A constant the variable may hold when its value is not certain; empty: none is known.
  virtual std::string possible_value(std::string_view name) = 0;
  virtual void assign(std::string_view name, Value value) = 0;
  // Judges the commands of $( ); returns what they print, trailing newlines removed.
  virtual Printed substitution(const syntax::List& list) = 0;
  // Judges the commands of <( ) and >( ); `text` is the name the command gets for it.
  virtual Printed process(const syntax::List& list) = 0;
  virtual void not_understood(std::string why, Span span) = 0;
  virtual void risky_expansion(std::string why, Span span) = 0;
  virtual std::string_view home() const = 0;
  virtual std::string_view working_directory() const = 0;  // empty: unknown
  virtual syntax::Dialect dialect() const = 0;
  // Whether a name that the marks in a value stand for (what a glob matched, what a command listed) has one
  // of these characters in it: unquoted, it becomes other words.
  virtual bool names_contain(std::string_view value, std::string_view characters) = 0;
};

enum class WordContext : uint8_t {
  Argument,    // splitting, globbing and brace expansion happen
  Assignment,  // none of them
};

class WordReader {
 public:
  explicit WordReader(ExpansionHost& host) : host_(host) {}

  // Appends the fields of the word.
  void read(const syntax::Word& word, WordContext context, std::vector<Field>& out);
  // The same as one text: assignments, here-strings, bodies of here-documents.
  Field read_text(const syntax::Word& word);
  std::string read_parts(const std::vector<syntax::Part>& parts);
  // Arithmetic: reports what could run code; the value is always some number.
  enum class Arithmetic : uint8_t { MayRun, AlwaysRuns };
  void check_arithmetic(std::string_view expression, Span span, Arithmetic when = Arithmetic::MayRun);

 private:
  ExpansionHost& host_;
};

bool is_name_start(char c);
bool is_name_char(char c);
bool is_plain_name(std::string_view text);

}  // namespace ttyward::policy
