#include "changes/diff.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <random>

namespace ttyward::changes {
namespace {

// The patch undone and redone by hand: what the hunks say about both sides.
struct Sides {
  std::string before;
  std::string after;
};
Sides sides_of(const std::vector<std::string_view>& a, const std::vector<std::string_view>& b,
               const LineDiff& diff) {
  Sides made;
  for (size_t i = 0; i < a.size(); i++)
    if (!diff.removed[i]) made.before += a[i];
  for (size_t i = 0; i < b.size(); i++)
    if (!diff.added[i]) made.after += b[i];
  return made;
}

size_t longest_common(const std::vector<std::string_view>& a, const std::vector<std::string_view>& b) {
  std::vector<std::vector<size_t>> table(a.size() + 1, std::vector<size_t>(b.size() + 1));
  for (size_t i = 1; i <= a.size(); i++) {
    for (size_t j = 1; j <= b.size(); j++) {
      table[i][j] =
          a[i - 1] == b[j - 1] ? table[i - 1][j - 1] + 1 : std::max(table[i - 1][j], table[i][j - 1]);
    }
  }
  return table[a.size()][b.size()];
}

TEST(Diff, WritesHunksAsDiffDoes) {
  EXPECT_EQ(unified_hunks("a\nb\nc\n", "a\nB\nc\n"), "@@ -1,3 +1,3 @@\n a\n-b\n+B\n c\n");
  EXPECT_EQ(unified_hunks("", "x\n"), "@@ -0,0 +1 @@\n+x\n");
  EXPECT_EQ(unified_hunks("x\n", ""), "@@ -1 +0,0 @@\n-x\n");
  EXPECT_EQ(unified_hunks("x\n", "x\n"), "");
  EXPECT_EQ(unified_hunks("x", "x\n"), "@@ -1 +1 @@\n-x\n\\ No newline at end of file\n+x\n");
}

TEST(Diff, JoinsChangesThatAreNear) {
  const std::string before = "1\n2\n3\n4\n5\n6\n7\n8\n9\n10\n11\n12\n13\n14\n15\n16\n17\n18\n";
  std::string after = before;
  after.replace(after.find("2\n"), 2, "two\n");
  after.replace(after.find("8\n"), 2, "eight\n");
  std::string far = after;
  far.replace(far.find("17\n"), 3, "seventeen\n");
  const auto hunks = [](const std::string& text) { return std::count(text.begin(), text.end(), '@') / 4; };
  EXPECT_EQ(hunks(unified_hunks(before, after)), 1);
  EXPECT_EQ(hunks(unified_hunks(before, far)), 2);
}

TEST(Diff, IsTheShortestOneForManyTexts) {
  std::mt19937 random(7);
  const auto pick = [&random](unsigned below) { return random() % below; };
  for (int round = 0; round < 2000; round++) {
    const unsigned letters = 1 + static_cast<unsigned>(pick(4));
    const auto text = [&] {
      std::string made;
      for (unsigned i = static_cast<unsigned>(pick(30)); i > 0; i--)
        made += std::string(1, static_cast<char>('a' + pick(letters))) + "\n";
      return made;
    };
    const std::string before = text();
    const std::string after = text();
    const auto a = split_lines(before);
    const auto b = split_lines(after);
    const LineDiff diff = diff_lines(a, b);
    const Sides sides = sides_of(a, b, diff);
    ASSERT_EQ(sides.before, sides.after) << before << "---\n" << after;
    ASSERT_EQ(a.size() - static_cast<size_t>(diff.removed_count), longest_common(a, b));
  }
}

// A pair made to need the most comparisons ends in bounded time, and the result is still a difference.
TEST(Diff, IsBoundedForTextsWithNothingInCommon) {
  std::string before;
  std::string after;
  for (int i = 0; i < 100'000; i++) {
    before += std::to_string(i * 2) + "\n";
    after += std::to_string(i * 2 + 1) + "\n";
  }
  const auto a = split_lines(before);
  const auto b = split_lines(after);
  const LineDiff diff = diff_lines(a, b);
  EXPECT_EQ(diff.removed_count, 100'000);
  EXPECT_EQ(diff.added_count, 100'000);
}

TEST(Diff, QuotesPathsThatWouldBreakALine) {
  EXPECT_EQ(quoted_path("a b.txt"), "a b.txt");
  EXPECT_EQ(quoted_path("größe"), "größe");
  EXPECT_EQ(quoted_path("a\nb"), "\"a\\nb\"");
  EXPECT_EQ(quoted_path("a\x1b]0;x\x07"), "\"a\\033]0;x\\007\"");
  EXPECT_EQ(quoted_path("say \"hi\""), "\"say \\\"hi\\\"\"");
}

}  // namespace
}  // namespace ttyward::changes
