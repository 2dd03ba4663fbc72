// [[ … ]] and (( … )), which only bash is allowed to have here.
#include <algorithm>
#include <array>

#include "syntax/parser.h"

namespace ttyward::syntax {
namespace {

constexpr auto kUnary = std::to_array<std::string_view>({"-a", "-b", "-c", "-d", "-e", "-f", "-g", "-h", "-k",
                                                         "-p", "-r", "-s", "-t", "-u", "-w", "-x", "-G", "-L",
                                                         "-N", "-O", "-S", "-z", "-n", "-o", "-v", "-R"});
constexpr auto kBinary = std::to_array<std::string_view>(
    {"==", "=", "!=", "=~", "-eq", "-ne", "-lt", "-le", "-gt", "-ge", "-nt", "-ot", "-ef"});

template <size_t N>
bool among(const std::array<std::string_view, N>& list, std::string_view word) {
  return std::find(list.begin(), list.end(), word) != list.end();
}

std::string plain_text(const Word& word) {
  if (word.parts.size() != 1) return {};
  const Part& part = word.parts.front();
  return part.kind == PartKind::Text && part.quoting == Quoting::None ? part.text : std::string();
}

}  // namespace

bool Parser::arithmetic_command(Command& out) {
  if (!bash()) return refuse("'((' is read differently by different shells");
  out.kind = CommandKind::Arithmetic;
  take(2, ByteRole::Operator);
  if (!arithmetic(out.expressions.emplace_back(), out.expression_spans.emplace_back(), false)) return false;
  if (!starts_with("))")) return refuse("arithmetic that is not closed");
  take(2, ByteRole::Operator);
  return true;
}

bool Parser::test_command(Command& out) {
  if (!bash()) return refuse("'[[' is read differently by different shells");
  out.kind = CommandKind::Test;
  take(2, ByteRole::Operator);
  if (!test_gap() || !test_or(out.test)) return false;
  if (reserved_word() != "]]") return refuse("a test that is not closed");
  take(2, ByteRole::Operator);
  return true;
}

// Blanks only: line ends and comments inside a test are left out.
bool Parser::test_gap() {
  while (peek() == ' ' || peek() == '\t') take(1, ByteRole::Gap);
  if (peek() == '#' || at_end()) return refuse("a test that is not closed");
  return true;
}

bool Parser::test_or(std::vector<TestToken>& out) {
  const Deeper deeper(depth_);
  if (!deeper.ok) return refuse("a test nested too deeply");
  for (;;) {
    if (!test_and(out)) return false;
    if (!starts_with("||")) return true;
    out.emplace_back().kind = TestTokenKind::Or;
    take(2, ByteRole::Operator);
    if (!test_gap()) return false;
  }
}

bool Parser::test_and(std::vector<TestToken>& out) {
  for (;;) {
    if (!test_not(out)) return false;
    if (!starts_with("&&")) return true;
    out.emplace_back().kind = TestTokenKind::And;
    take(2, ByteRole::Operator);
    if (!test_gap()) return false;
  }
}

bool Parser::test_not(std::vector<TestToken>& out) {
  if (peek() == '!' && (peek(1) == ' ' || peek(1) == '\t')) {
    out.emplace_back().kind = TestTokenKind::Not;
    take(1, ByteRole::Operator);
    if (!test_gap()) return false;
    if (peek() == '!' && (peek(1) == ' ' || peek(1) == '\t')) return refuse("a test negated twice");
  }
  if (peek() == '(') {
    out.emplace_back().kind = TestTokenKind::Open;
    take(1, ByteRole::Operator);
    if (!test_gap() || !test_or(out)) return false;
    if (peek() != ')') return refuse("a parenthesis that is not closed");
    out.emplace_back().kind = TestTokenKind::Close;
    take(1, ByteRole::Operator);
    return test_gap();
  }
  return test_primary(out);
}

bool Parser::test_primary(std::vector<TestToken>& out) {
  Word first;
  if (ends_word(peek())) return refuse("an operand is missing");
  if (!word(first, Context::Operand) || !test_gap()) return false;
  const std::string op = plain_text(first);
  if (op == "]]" || op == "!") return refuse("a test that is not understood");
  TestToken token;
  if (among(kUnary, op)) {
    if (ends_word(peek()) || reserved_word() == "]]") return refuse("an operand is missing");
    token.kind = TestTokenKind::Unary;
    token.op = op;
    if (!word(token.left, Context::Operand) || !test_gap()) return false;
    // `-f == x` is a comparison.
    if (!starts_with("&&") && !starts_with("||") && peek() != ')' && reserved_word() != "]]")
      return refuse("a test that is not understood");
    if (among(kBinary, plain_text(token.left))) return refuse("a test that is not understood");
  } else if (starts_with("&&") || starts_with("||") || peek() == ')' || reserved_word() == "]]") {
    token.kind = TestTokenKind::Alone;
    token.left = std::move(first);
  } else {
    if (ends_word(peek())) return refuse("a test that is not understood");
    Word middle;
    if (!word(middle, Context::Operand) || !test_gap()) return false;
    token.kind = TestTokenKind::Binary;
    token.op = plain_text(middle);
    if (!among(kBinary, token.op)) return refuse("a test that is not understood");
    token.left = std::move(first);
    if (ends_word(peek()) || reserved_word() == "]]") return refuse("an operand is missing");
    const size_t from = at_;
    if (token.op == "=~") {
      // Only expressions without parentheses, bars or quotes: the rest is split in ways of its own.
      if (!word(token.right, Context::Regex)) return false;
      if (slice(from, at_).find_first_of("'\"\\#[") != std::string_view::npos)
        return refuse("a regular expression that is not understood");
    } else if (!word(token.right, Context::Operand)) {
      return false;
    }
    if (peek() != ' ' && peek() != '\t') return refuse("a test that is not understood");
    if (!test_gap()) return false;
  }
  out.push_back(std::move(token));
  return true;
}

}  // namespace ttyward::syntax
