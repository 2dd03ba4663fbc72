// The syntax tree of a bash command, as plain values.
//
// tree-sitter stays inside bash_tree.cc. Its nodes are read by an allow-list of
// kinds: whatever is not listed, an error in the tree, or text that lies
// between two tokens without being blank makes the whole tree "not understood"
// (`problem` says why and where), and then nothing may be allowed on its word.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "policy/verdict.h"

namespace ttyward::policy {

enum class NodeKind : uint8_t {
  Program,
  List,
  Pipeline,
  Command,
  CommandName,
  RedirectedStatement,
  NegatedCommand,
  Subshell,
  CompoundStatement,
  IfStatement,
  ElifClause,
  ElseClause,
  WhileStatement,
  ForStatement,
  CStyleForStatement,
  DoGroup,
  CaseStatement,
  CaseItem,
  FunctionDefinition,
  DeclarationCommand,
  UnsetCommand,
  TestCommand,
  VariableAssignment,
  VariableAssignments,
  Array,
  Subscript,
  VariableName,
  FileRedirect,
  HeredocRedirect,
  HerestringRedirect,
  HeredocStart,
  HeredocBody,
  HeredocEnd,
  FileDescriptor,
  CommandSubstitution,
  ProcessSubstitution,
  ArithmeticExpansion,
  Expansion,
  SimpleExpansion,
  // Words and their parts; words.cc reads them from the text, not from the tree.
  Word,
  Number,
  Concatenation,
  String,
  RawString,
  AnsiCString,
  TranslatedString,
  BraceExpression,
  ExtglobPattern,
  Regex,
  // Inside [[ ]], (( )) and ${ }.
  BinaryExpression,
  UnaryExpression,
  TernaryExpression,
  PostfixExpression,
  ParenthesizedExpression,
  TestOperator,
  Text,  // string_content, heredoc_content, special_variable_name: no structure of their own
  Comment,
  Token,  // keywords and punctuation
};

struct Node {
  NodeKind kind;
  uint32_t begin;
  uint32_t end;
  uint32_t parent;
  uint32_t next;         // next sibling, 0 = none
  uint32_t first_child;  // 0 = none: the root is nobody's child
};

// Deeper nesting or more nodes than this is not understood.
inline constexpr uint32_t kMaxTreeDepth = 120;
inline constexpr uint32_t kMaxTreeNodes = 40000;

struct BashTree {
  std::vector<Node> nodes;  // nodes[0] is the program, in document order
  std::string problem;      // empty: understood
  Span problem_span;

  bool understood() const { return problem.empty(); }
};

BashTree parse_bash(std::string_view text);

}  // namespace ttyward::policy
