// From the text of a word to the arguments a program would get.
//
// The tree says where a word begins and ends; its meaning is read here from the
// bytes themselves (quotes, escapes, ANSI-C strings, braces, tilde, globs,
// expansions). If this reading and the tree's boundaries disagree, the command
// is not understood: two readers have to agree before anything is allowed.
//
// What is not constant is kept as a mark inside the text. Marks are control
// characters, which never reach this code from outside: text_screen refuses
// them and ANSI-C strings that would make one are reported.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "policy/bash_tree.h"
#include "policy/verdict.h"

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
  bool disguised = false;  // written so that it does not look like what it is
  bool quoted = false;     // some part was quoted
  bool expanded = false;   // some part came out of an expansion

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

// What expanding a word needs from the shell it is in.
class ExpansionHost {
 public:
  virtual ~ExpansionHost() = default;
  // nullptr: nothing is known about the variable.
  virtual const Value* variable(std::string_view name) = 0;
  // A constant the variable may hold when its value is not certain; empty: none is known.
  virtual std::string possible_value(std::string_view name) = 0;
  virtual void assign(std::string_view name, Value value) = 0;
  // Judges the substitution's commands; returns what it prints, trailing newlines removed.
  virtual std::string substitution(uint32_t node) = 0;
  // Judges commands found inside nodes that are not words themselves.
  virtual void visit_nested(uint32_t node) = 0;
  virtual void not_understood(std::string why, Span span) = 0;
  virtual void risky_expansion(std::string why, Span span) = 0;
  virtual std::string_view home() const = 0;
  virtual std::string_view working_directory() const = 0;  // empty: unknown
};

enum class WordContext : uint8_t {
  Argument,    // splitting, globbing and brace expansion happen
  Assignment,  // none of them
  Pattern,     // case patterns and [[ ]]: operators may be part of the word
};

class WordReader {
 public:
  WordReader(std::string_view text, const BashTree& tree, ExpansionHost& host);

  // Appends the fields of the word [begin, end).
  void read(uint32_t begin, uint32_t end, WordContext context, std::vector<Field>& out);
  // The same as one text: assignments, redirections of here-strings.
  std::string read_text(uint32_t begin, uint32_t end);
  // A here-document's body, expanded.
  std::string read_heredoc(uint32_t begin, uint32_t end);
  // Arithmetic: reports what could run code; the value is always some number.
  void check_arithmetic(uint32_t begin, uint32_t end);

 private:
  friend class WordLexer;
  // The node of this kind that begins at `begin`, or 0.
  uint32_t find_node(uint32_t begin, NodeKind kind) const;

  std::string_view text_;
  const BashTree& tree_;
  ExpansionHost& host_;
  std::vector<uint32_t> marked_nodes_;  // substitutions and expansions, by where they begin
};

}  // namespace ttyward::policy
