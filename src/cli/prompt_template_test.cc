#include "cli/prompt_template.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace ttyward::cli {
namespace {

// Text as it is, commands in ⟨⟩.
std::string shown(std::string_view text, std::string_view arguments) {
  const auto pieces = parse_prompt(text);
  if (!pieces) return "error: " + pieces.error().message;
  std::string out;
  for (const PromptPiece& piece : *pieces) {
    const std::string filled = fill_arguments(piece, arguments);
    out += piece.kind == PromptPiece::Kind::Command ? "⟨" + filled + "⟩" : filled;
  }
  return out;
}

TEST(PromptTemplate, table) {
  struct Row {
    const char* text;
    const char* arguments;
    const char* expected;
  };
  const std::vector<Row> rows = {
      {"", "", ""},
      {"plain { text } ! {not one}", "", "plain { text } ! {not one}"},
      {"a !{ls} b", "", "a ⟨ls⟩ b"},
      {"!{ls}!{pwd}", "", "⟨ls⟩⟨pwd⟩"},
      {"!{}", "", "⟨⟩"},
      {"!{awk '{print $1}' f}.", "", "⟨awk '{print $1}' f⟩."},
      {"!{f() { { echo a; }; }; f} }", "", "⟨f() { { echo a; }; }; f⟩ }"},
      {"!{echo ${x:-{}}}", "", "⟨echo ${x:-{}}⟩"},
      {"!{a\nb}\nc", "", "⟨a\nb⟩\nc"},
      {"x {{args}} y", "one two", "x one two y"},
      {"!{grep {{args}} f}", "one two", "⟨grep 'one two' f⟩"},
      {"!{grep {{args}} f} {{args}}", "a'b", "⟨grep 'a'\\''b' f⟩ a'b"},
      {"!{grep {{args}} {{args}}}", "x", "⟨grep x x⟩"},
      {"!{grep {{args}} f}", "", "⟨grep '' f⟩"},
      {"!{grep {{args}} f}", "$(rm x); `rm y`", "⟨grep '$(rm x); `rm y`' f⟩"},
      // What was given is never taken apart itself.
      {"{{args}}", "!{rm x} {{args}}", "!{rm x} {{args}}"},
      {"!{echo {{args}}}", "} !{rm x}", "⟨echo '} !{rm x}'⟩"},
      {"!{echo {{args}}}", "{{args}}", "⟨echo '{{args}}'⟩"},
      {"{{ args }} {{other}}", "x", "{{ args }} {{other}}"},
      {"one\ntwo !{ls", "", "error: line 2: this !{ has no } that closes it"},
      {"!{echo {a}", "", "error: line 1: this !{ has no } that closes it"},
      {"!{grep '{{args}}' f}", "x", "error: line 1: remove the quotes around {{args}}; it is quoted already"},
      {"!{grep \"a {{args}}\" f}", "x",
       "error: line 1: remove the quotes around {{args}}; it is quoted already"},
      {"!{echo `{{args}}`}", "x", "error: line 1: remove the quotes around {{args}}; it is quoted already"},
      {"!{echo \\' {{args}}}", "x", "⟨echo \\' x⟩"},
      {"!{echo 'a' \"b\" {{args}}}", "x", "⟨echo 'a' \"b\" x⟩"},
  };
  for (const Row& row : rows) {
    EXPECT_EQ(shown(row.text, row.arguments), row.expected) << row.text;
  }
}

TEST(PromptTemplate, pieces_know_their_lines) {
  const auto pieces = parse_prompt("a\nb\n!{c\nd}\n!{e}");
  ASSERT_TRUE(pieces);
  ASSERT_EQ(pieces->size(), 4U);
  EXPECT_EQ((*pieces)[1].line, 3U);
  EXPECT_EQ((*pieces)[3].line, 5U);
}

}  // namespace
}  // namespace ttyward::cli
