#include "policy/bash_tree.h"

#include <tree_sitter/api.h>

#include <memory>
#include <utility>

extern "C" const TSLanguage* tree_sitter_bash(void);

namespace ttyward::policy {
namespace {

constexpr uint64_t kParseDeadlineMicros = 1'000'000;

constexpr std::pair<std::string_view, NodeKind> kKinds[] = {
    {"program", NodeKind::Program},
    {"list", NodeKind::List},
    {"pipeline", NodeKind::Pipeline},
    {"command", NodeKind::Command},
    {"command_name", NodeKind::CommandName},
    {"redirected_statement", NodeKind::RedirectedStatement},
    {"negated_command", NodeKind::NegatedCommand},
    {"subshell", NodeKind::Subshell},
    {"compound_statement", NodeKind::CompoundStatement},
    {"if_statement", NodeKind::IfStatement},
    {"elif_clause", NodeKind::ElifClause},
    {"else_clause", NodeKind::ElseClause},
    {"while_statement", NodeKind::WhileStatement},
    {"for_statement", NodeKind::ForStatement},
    {"c_style_for_statement", NodeKind::CStyleForStatement},
    {"do_group", NodeKind::DoGroup},
    {"case_statement", NodeKind::CaseStatement},
    {"case_item", NodeKind::CaseItem},
    {"function_definition", NodeKind::FunctionDefinition},
    {"declaration_command", NodeKind::DeclarationCommand},
    {"unset_command", NodeKind::UnsetCommand},
    {"test_command", NodeKind::TestCommand},
    {"variable_assignment", NodeKind::VariableAssignment},
    {"variable_assignments", NodeKind::VariableAssignments},
    {"array", NodeKind::Array},
    {"subscript", NodeKind::Subscript},
    {"variable_name", NodeKind::VariableName},
    {"file_redirect", NodeKind::FileRedirect},
    {"heredoc_redirect", NodeKind::HeredocRedirect},
    {"herestring_redirect", NodeKind::HerestringRedirect},
    {"heredoc_start", NodeKind::HeredocStart},
    {"heredoc_body", NodeKind::HeredocBody},
    {"heredoc_end", NodeKind::HeredocEnd},
    {"file_descriptor", NodeKind::FileDescriptor},
    {"command_substitution", NodeKind::CommandSubstitution},
    {"process_substitution", NodeKind::ProcessSubstitution},
    {"arithmetic_expansion", NodeKind::ArithmeticExpansion},
    {"expansion", NodeKind::Expansion},
    {"simple_expansion", NodeKind::SimpleExpansion},
    {"word", NodeKind::Word},
    {"number", NodeKind::Number},
    {"concatenation", NodeKind::Concatenation},
    {"string", NodeKind::String},
    {"raw_string", NodeKind::RawString},
    {"ansi_c_string", NodeKind::AnsiCString},
    {"translated_string", NodeKind::TranslatedString},
    {"brace_expression", NodeKind::BraceExpression},
    {"extglob_pattern", NodeKind::ExtglobPattern},
    {"regex", NodeKind::Regex},
    {"binary_expression", NodeKind::BinaryExpression},
    {"unary_expression", NodeKind::UnaryExpression},
    {"ternary_expression", NodeKind::TernaryExpression},
    {"postfix_expression", NodeKind::PostfixExpression},
    {"parenthesized_expression", NodeKind::ParenthesizedExpression},
    {"test_operator", NodeKind::TestOperator},
    {"string_content", NodeKind::Text},
    {"heredoc_content", NodeKind::Text},
    {"special_variable_name", NodeKind::Text},
    {"comment", NodeKind::Comment},
};

constexpr uint8_t kNotListed = 0xFF;

// Symbol number to node kind, made once from the grammar's own names.
std::vector<uint8_t> symbol_table() {
  const TSLanguage* language = tree_sitter_bash();
  const uint32_t count = ts_language_symbol_count(language);
  std::vector<uint8_t> table(count, kNotListed);
  for (uint32_t symbol = 0; symbol < count; ++symbol) {
    const auto id = static_cast<TSSymbol>(symbol);
    if (ts_language_symbol_type(language, id) != TSSymbolTypeRegular) {
      table[symbol] = static_cast<uint8_t>(NodeKind::Token);
      continue;
    }
    const std::string_view name = ts_language_symbol_name(language, id);
    for (const auto& [listed, kind] : kKinds) {
      if (listed == name) table[symbol] = static_cast<uint8_t>(kind);
    }
  }
  return table;
}

struct ParserDelete {
  void operator()(TSParser* parser) const { ts_parser_delete(parser); }
};
struct TreeDelete {
  void operator()(TSTree* tree) const { ts_tree_delete(tree); }
};

// One parser per thread: it is reset before every use, so no state passes from one command to the next.
TSParser* thread_parser() {
  thread_local std::unique_ptr<TSParser, ParserDelete> parser;
  if (!parser) {
    parser.reset(ts_parser_new());
    if (!ts_parser_set_language(parser.get(), tree_sitter_bash())) parser.reset();
  }
  return parser.get();
}

// Nodes whose children are separated by blanks and nothing else.
bool is_structural(NodeKind kind) {
  switch (kind) {
    case NodeKind::String:
    case NodeKind::TranslatedString:
    case NodeKind::HeredocBody:
    case NodeKind::Expansion:
    case NodeKind::ArithmeticExpansion:
    case NodeKind::Regex:
    case NodeKind::ExtglobPattern:
      return false;
    default:
      return true;
  }
}

// Bash joins what stands on both sides of backslash-newline; the grammar takes it for a blank.
bool is_blank_gap(std::string_view text, size_t begin, size_t end) {
  const auto blank = [&](size_t i) { return text[i] == ' ' || text[i] == '\t' || text[i] == '\n'; };
  for (size_t i = begin; i < end; ++i) {
    if (blank(i)) continue;
    const bool continuation = text[i] == '\\' && i + 1 < end && text[i + 1] == '\n';
    if (!continuation) return false;
    const bool blank_before = i == 0 || blank(i - 1);
    const bool blank_after = i + 2 >= text.size() || blank(i + 2) || text[i + 2] == '\\';
    if (!blank_before && !blank_after) return false;
    ++i;
  }
  return true;
}

class Converter {
 public:
  Converter(std::string_view text, BashTree& tree) : text_(text), tree_(tree) {}

  void run(TSNode root) {
    TSTreeCursor cursor = ts_tree_cursor_new(root);
    uint32_t parent = 0;
    uint32_t depth = 0;
    uint32_t previous = 0;  // sibling before the current node
    for (bool more = true; more && tree_.problem.empty();) {
      const uint32_t index = add(ts_tree_cursor_current_node(&cursor), parent, previous);
      if (!tree_.problem.empty()) break;
      if (ts_tree_cursor_goto_first_child(&cursor)) {
        parent = index;
        previous = 0;
        if (++depth > kMaxTreeDepth) refuse("nested too deeply", tree_.nodes[index].begin);
        continue;
      }
      close(index);
      previous = index;
      while (!ts_tree_cursor_goto_next_sibling(&cursor)) {
        if (!ts_tree_cursor_goto_parent(&cursor)) {
          more = false;
          break;
        }
        previous = parent;
        close(previous);
        parent = tree_.nodes[previous].parent;
        --depth;
      }
    }
    ts_tree_cursor_delete(&cursor);
    if (tree_.problem.empty() && !is_blank_gap(text_, covered_, text_.size())) {
      refuse("text that is not part of any command", covered_);
    }
  }

 private:
  uint32_t add(TSNode node, uint32_t parent, uint32_t previous) {
    static const std::vector<uint8_t> kTable = symbol_table();
    const uint32_t begin = ts_node_start_byte(node);
    const uint32_t end = ts_node_end_byte(node);
    const TSSymbol symbol = ts_node_symbol(node);
    const uint8_t kind = symbol < kTable.size() ? kTable[symbol] : kNotListed;
    if (kind == kNotListed || ts_node_is_missing(node)) {
      refuse("syntax that is not understood", begin);
      return 0;
    }
    const auto index = static_cast<uint32_t>(tree_.nodes.size());
    if (index >= kMaxTreeNodes) {
      refuse("too many parts", begin);
      return 0;
    }
    tree_.nodes.push_back({static_cast<NodeKind>(kind), begin, end, parent, 0, 0});
    if (index == 0) {
      covered_ = 0;
      return 0;
    }
    if (previous != 0) {
      tree_.nodes[previous].next = index;
    } else {
      tree_.nodes[parent].first_child = index;
    }
    if (begin > covered_) {
      // Inside strings and the like the text between two nodes is content.
      if (is_structural(tree_.nodes[parent].kind) && !is_blank_gap(text_, covered_, begin)) {
        refuse("text that is not part of any command", covered_);
      }
      covered_ = begin;
    }
    return index;
  }

  void close(uint32_t index) {
    const Node& node = tree_.nodes[index];
    if (node.end > covered_) {
      // A structural node's own text is its children's; the rest must be blank.
      if (node.first_child != 0 && is_structural(node.kind) && !is_blank_gap(text_, covered_, node.end)) {
        refuse("text that is not part of any command", covered_);
      }
      covered_ = node.end;
    }
  }

  void refuse(std::string why, uint32_t at) {
    if (!tree_.problem.empty()) return;
    tree_.problem = std::move(why);
    tree_.problem_span = {at, static_cast<uint32_t>(std::min<size_t>(at + 1, text_.size()))};
  }

  std::string_view text_;
  BashTree& tree_;
  uint32_t covered_ = 0;  // everything before this byte belongs to a token
};

}  // namespace

BashTree parse_bash(std::string_view text) {
  BashTree result;
  TSParser* parser = thread_parser();
  if (parser == nullptr) {
    result.problem = "the bash grammar does not fit this tree-sitter";
    return result;
  }
  ts_parser_reset(parser);
  ts_parser_set_timeout_micros(parser, kParseDeadlineMicros);
  const std::unique_ptr<TSTree, TreeDelete> tree(
      ts_parser_parse_string(parser, nullptr, text.data(), static_cast<uint32_t>(text.size())));
  if (!tree) {
    result.problem = "the command takes too long to parse";
    return result;
  }
  const TSNode root = ts_tree_root_node(tree.get());
  const bool broken = ts_node_has_error(root);
  result.nodes.reserve(text.size() / 2 + 16);
  Converter(text, result).run(root);
  if (broken && result.problem.empty()) result.problem = "a syntax error";
  if (result.nodes.empty()) result.nodes.push_back({NodeKind::Program, 0, 0, 0, 0, 0});
  return result;
}

}  // namespace ttyward::policy
