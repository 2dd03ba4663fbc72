#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <random>

#include "policy/git_repository.h"

namespace ttyward::policy {
namespace {

using ::testing::ElementsAre;

std::vector<std::string> keys(std::string_view text) {
  std::vector<GitSetting> found;
  if (!read_git_settings(text, found)) return {"refused"};
  std::vector<std::string> out;
  for (const GitSetting& one : found)
    out.push_back(one.section + "|" + one.subsection + "|" + one.key + "=" + one.value);
  return out;
}

TEST(GitSettings, are_read_as_git_reads_them) {
  EXPECT_THAT(keys("[core]\n\tbare = false\n"), ElementsAre("core||bare=false"));
  EXPECT_THAT(keys("[Diff \"X y\"] TextConv = a b ; c\n"), ElementsAre("diff|X y|textconv=a b"));
  EXPECT_THAT(keys("[diff.x]command=\"a # b\" # c"), ElementsAre("diff|x|command=a # b"));
  EXPECT_THAT(keys("[a][b]k\n"), ElementsAre("b||k=true"));
  EXPECT_THAT(keys("[a]\nk = x \\\n y\n"), ElementsAre("a||k=x  y"));
  EXPECT_THAT(keys("\xEF\xBB\xBF# c\r\n[a]\r\nk = v\r\n"), ElementsAre("a||k=v"));
  EXPECT_THAT(keys("[a \"q\\\"b\"]\nk=v"), ElementsAre("a|q\"b|k=v"));
  for (const char* text : {"[a", "[]\nk=v", "k=v", "[a]\nk v\n", "[a]\nk = \"x\n", "[a \"b\nc\"]", "[a] =x"})
    EXPECT_THAT(keys(text), ElementsAre("refused")) << text;
}

TEST(GitSettings, every_text_has_an_answer) {
  std::mt19937 random(7);
  constexpr std::string_view kBytes = "[]\"\\=#;\n\r \tab.-";
  for (int i = 0; i < 20'000; ++i) {
    std::string text;
    for (size_t n = random() % 16; n > 0; --n) text.push_back(kBytes[random() % kBytes.size()]);
    keys(text);
    std::vector<GitIndexEntry> entries;
    read_git_index("DIRC" + text + text + text, entries);
  }
}

}  // namespace
}  // namespace ttyward::policy
