// The syntax tree of a shell command line, as plain values.
//
// A tree is made only by parse() and only for text that was understood to the
// last byte. It holds what the shell reads, before any expansion: words with
// their quoting, lists, pipelines, redirections with the bodies of
// here-documents. Offsets are bytes of the parsed text.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

namespace ttyward::syntax {

struct Span {
  uint32_t begin = 0;
  uint32_t end = 0;
  bool operator==(const Span&) const = default;
};

struct List;
struct Expansion;

enum class PartKind : uint8_t {
  Text,        // constant text: `text` is its value after quote removal
  Parameter,   // $x, ${x…}
  Command,     // $(…), `…`
  Process,     // <(…), >(…)
  Arithmetic,  // $((…))
};

enum class Quoting : uint8_t { None, Backslash, Single, Double, AnsiC };

// One piece of a word.
struct Part {
  PartKind kind = PartKind::Text;
  Quoting quoting = Quoting::None;
  Span span;
  std::string text;
  std::unique_ptr<Expansion> expansion;  // for every kind but Text

  bool quoted() const { return quoting != Quoting::None; }
};

enum class ParameterOp : uint8_t {
  None,
  Length,        // ${#x}
  Default,       // ${x-w} ${x:-w}
  Assign,        // ${x=w} ${x:=w}
  Error,         // ${x?w} ${x:?w}
  Alternative,   // ${x+w} ${x:+w}
  RemovePrefix,  // ${x#w} ${x##w}
  RemoveSuffix,  // ${x%w} ${x%%w}
  Replace,       // ${x/p/r} and its kin
  ChangeCase,    // ${x^} ${x^^} ${x,} ${x,,}
  Substring,     // ${x:1} ${x:1:2} with constant numbers
};

// What stands behind a `$`, or inside `<( )`.
struct Expansion {
  // Parameter
  std::string name;
  std::string subscript;  // "@", "*" or digits; empty: none
  ParameterOp op = ParameterOp::None;
  bool colon = false;    // the form with ':', which also acts on empty values
  bool doubled = false;  // ## %% // ^^ ,,
  std::vector<Part> argument;
  std::vector<Part> replacement;
  long offset = 0;   // Substring
  long length = -1;  // Substring; -1: to the end
  // Command, Process
  std::unique_ptr<List> list;
  bool backquotes = false;
  bool writes = false;  // >( )
  // Arithmetic: only numbers, operators, names and simple parameters can occur.
  std::string expression;
  Span expression_span;
};

struct Word {
  Span span;
  std::vector<Part> parts;
  bool continued = false;      // backslash-newline stands inside it
  bool array = false;          // name=( … ): `elements` instead of parts after the name
  std::vector<Word> elements;  // of the array
  bool is_plain(const char* text) const {
    return parts.size() == 1 && parts[0].kind == PartKind::Text && parts[0].quoting == Quoting::None &&
           parts[0].text == text;
  }
};

struct Assignment {
  Span span;
  std::string name;
  std::string subscript;  // digits; empty: none
  bool append = false;
  Word value;  // with `array` set for name=( … )
};

enum class RedirectOp : uint8_t {
  Read,        // <
  Write,       // >
  Append,      // >>
  ReadWrite,   // <>
  Both,        // &>
  BothAppend,  // &>>
  Duplicate,   // n>&m n<&m: `target_fd`
  Close,       // n>&- n<&-
  HereString,  // <<<
  HereDoc,     // << <<-
};

struct HereDoc {
  std::string delimiter;
  bool raw = false;  // the delimiter is quoted: the body is not expanded
  bool strip_tabs = false;
  Span body;     // from the first byte of the body to the first byte of the end line
  Word content;  // raw: one text; otherwise with its expansions
};

struct Redirect {
  Span span;
  RedirectOp op = RedirectOp::Read;
  int fd = -1;         // -1: the operator's own
  bool input = false;  // written with '<'
  int target_fd = -1;
  Word target;
  std::unique_ptr<HereDoc> here;  // HereDoc
};

enum class CommandKind : uint8_t {
  Simple,
  Subshell,
  Group,
  If,
  While,
  Until,
  For,
  ArithmeticFor,
  Case,
  Function,
  Test,        // [[ … ]]
  Arithmetic,  // (( … ))
};

enum class TestTokenKind : uint8_t { Open, Close, And, Or, Not, Unary, Binary, Alone };

// [[ … ]] in order of writing.
struct TestToken {
  TestTokenKind kind = TestTokenKind::Alone;
  std::string op;  // Unary, Binary
  Word left;       // Unary, Alone: the operand
  Word right;      // Binary
};

struct CaseItem;

struct Command {
  CommandKind kind = CommandKind::Simple;
  Span span;
  std::vector<Assignment> assignments;  // Simple: before the first word
  std::vector<Word> words;              // Simple: the words. For: the values. Case: the subject
  std::vector<Redirect> redirects;
  std::string name;     // For: the variable. Function: its name
  bool has_in = false;  // For: `in` was written; without it the values are "$@"
  // Subshell, Group: the body. If: condition, then, …, and one more for else. While, Until: condition, body.
  // For, ArithmeticFor: the body.
  std::vector<List> lists;
  std::vector<CaseItem> cases;
  std::unique_ptr<Command> body;         // Function
  std::vector<TestToken> test;           // Test
  std::vector<std::string> expressions;  // Arithmetic: one. ArithmeticFor: three
  std::vector<Span> expression_spans;
};

struct Pipeline {
  Span span;
  bool negated = false;
  bool timed = false;
  std::vector<Command> commands;
  std::vector<bool> with_stderr;  // |& after command i
};

struct AndOr {
  Span span;
  std::vector<Pipeline> pipelines;
  std::vector<bool> by_or;  // || between pipeline i and i + 1; otherwise &&
  bool background = false;
};

struct List {
  Span span;
  std::vector<AndOr> items;
};

struct CaseItem {
  Span span;
  std::vector<Word> patterns;
  List body;  // may be empty
};

}  // namespace ttyward::syntax
