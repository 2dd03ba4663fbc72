#include "vt/scrollback.h"

#include <gtest/gtest.h>

#include <random>
#include <string>

#include "vt/width.h"

namespace ttyward::vt {
namespace {

// A row with storage of its own, written with text and styles.
struct TestRow {
  std::vector<Cell> cells;
  Row row;

  explicit TestRow(std::u32string_view text, StyleId style = 0, uint16_t flags = 0) {
    for (const char32_t c : text) {
      const bool wide = char_width(c) == 2;
      cells.push_back(Cell::of(c, wide ? CellKind::Wide : CellKind::Narrow, style));
      if (wide) cells.push_back(Cell::of(0, CellKind::WideTail, style));
      if (c >= 0x80) flags |= Row::kMaybeNonAscii;
      if (wide) flags |= Row::kMaybeWide;
    }
    if (style != 0) flags |= Row::kMaybeStyled;
    row.flags = flags;
  }
  const Row& get() {
    row.cells = cells.data();
    row.used = static_cast<uint32_t>(cells.size());
    return row;
  }
};

class ScrollbackTest : public testing::Test {
 protected:
  void push(std::u32string_view text, StyleId style = 0, uint16_t flags = 0) {
    TestRow row(text, style, flags);
    scrollback_.push(row.get());
  }
  std::string all() const {
    std::string out;
    for (size_t i = 0; i < scrollback_.size(); i++) {
      const Line line = scrollback_.read(i);
      out += line.text + (line.wrapped ? "+" : "|");
    }
    return out;
  }

  StyleTable styles_;
  ClusterTable clusters_;
  Scrollback scrollback_{{1000, size_t{64} << 20}, styles_, clusters_};
};

TEST_F(ScrollbackTest, ReadsWhatWasPushed) {
  push(U"plain");
  push(U"");
  push(U"漢é!");
  EXPECT_EQ(all(), "plain||漢é!|");
  EXPECT_EQ(scrollback_.size(), 3u);
}

TEST_F(ScrollbackTest, KeepsStylesMarksAndWraps) {
  Style bold;
  bold.set(Style::kBold);
  TestRow row(U"abcd", 0, Row::kWrapped | Row::kPromptStart | Row::kDoubleWidth | Row::kMaybeStyled);
  row.cells[1].style = row.cells[2].style = styles_.intern(bold);
  scrollback_.push(row.get());
  const Line line = scrollback_.read(0);
  EXPECT_EQ(line.text, "abcd");
  EXPECT_TRUE(line.wrapped);
  EXPECT_EQ(line.flags, Row::kPromptStart | Row::kDoubleWidth);
  ASSERT_EQ(line.spans.size(), 3u);
  EXPECT_EQ(line.spans[1], (Span{bold, 1, 2, 1, 3}));
}

TEST_F(ScrollbackTest, PopGivesTheCellsBack) {
  Style red;
  red.foreground = Color::palette(1);
  TestRow row(U"a漢", styles_.intern(red));
  row.cells[0].content = clusters_.append('a', 0x301);
  row.row.set(Row::kMaybeNonAscii);
  scrollback_.push(row.get());
  push(U"last");
  scrollback_.pop();
  const UnpackedRow back = scrollback_.pop();
  EXPECT_EQ(back.cells, row.cells);
  EXPECT_TRUE(scrollback_.empty());
}

TEST_F(ScrollbackTest, EmptyColumnsStayEmpty) {
  TestRow row(U"a b");
  row.cells[1] = Cell{};
  scrollback_.push(row.get());
  EXPECT_EQ(scrollback_.read(0).text, "a b");
  EXPECT_TRUE(scrollback_.pop().cells[1].is_empty());
}

TEST_F(ScrollbackTest, ClustersOfUnusualWidth) {
  TestRow row(U"xy");
  row.cells[0] = Cell::of(0x2764, CellKind::Wide, 0);  // narrow by itself
  row.cells[0].content = clusters_.append(0x2764, 0xFE0F) | static_cast<uint32_t>(CellKind::Wide)
                                                                << Cell::kKindShift;
  row.cells[1] = Cell::of(0, CellKind::WideTail, 0);
  row.row.set(Row::kMaybeNonAscii | Row::kMaybeWide);
  scrollback_.push(row.get());
  EXPECT_EQ(scrollback_.read(0).columns(), 2u);
  EXPECT_EQ(scrollback_.pop().cells, row.cells);
}

TEST_F(ScrollbackTest, NeverOffersMoreThanTheLimit) {
  for (int i = 0; i < 5000; i++) push(U"line");
  push(U"newest");
  EXPECT_EQ(scrollback_.size(), 1000u);
  EXPECT_EQ(scrollback_.read(999).text, "newest");
}

TEST_F(ScrollbackTest, TheByteLimitHoldsWhateverTheRows) {
  Scrollback small({1'000'000, 1 << 20}, styles_, clusters_);
  const std::u32string wide(5000, U'漢');
  for (int i = 0; i < 500; i++) {
    TestRow row(wide);
    small.push(row.get());
    EXPECT_LE(small.memory(), size_t{2} << 20);
  }
  EXPECT_GT(small.size(), 10u);
}

TEST_F(ScrollbackTest, NothingIsKeptWithALimitOfZero) {
  Scrollback none({0, 1 << 20}, styles_, clusters_);
  TestRow row(U"x");
  none.push(row.get());
  EXPECT_TRUE(none.empty());
}

TEST_F(ScrollbackTest, ManyStylesInManyBlocks) {
  std::mt19937 random(3);
  std::vector<std::pair<std::u32string, Style>> wanted;
  for (int i = 0; i < 900; i++) {
    Style style;
    style.background = Color::rgb(static_cast<uint8_t>(random()), static_cast<uint8_t>(random()), 1);
    std::u32string text(random() % 200 + 1, static_cast<char32_t>(U'a' + random() % 26));
    push(text, styles_.intern(style));
    wanted.emplace_back(text, style);
  }
  for (size_t i = 0; i < wanted.size(); i++) {
    const Line line = scrollback_.read(i);
    ASSERT_EQ(line.text, std::string(wanted[i].first.begin(), wanted[i].first.end()));
    ASSERT_EQ(line.spans.at(0).style, wanted[i].second);
  }
}

TEST_F(ScrollbackTest, RewrapJoinsAndSplits) {
  push(U"abcde", 0, Row::kWrapped);
  push(U"fgh");
  push(U"short");
  scrollback_.rewrap(10, [] {});
  EXPECT_EQ(all(), "abcdefgh|short|");
  scrollback_.rewrap(3, [] {});
  EXPECT_EQ(all(), "abc+def+gh|sho+rt|");
  scrollback_.rewrap(5, [] {});
  EXPECT_EQ(all(), "abcde+fgh|short|");
}

TEST_F(ScrollbackTest, RewrapDoesNotCutWideCharacters) {
  push(U"漢字漢");
  scrollback_.rewrap(3, [] {});
  EXPECT_EQ(all(), "漢+字+漢|");
  scrollback_.rewrap(6, [] {});
  EXPECT_EQ(all(), "漢字漢|");
  scrollback_.rewrap(1, [] {});  // no room for them at all
  EXPECT_EQ(scrollback_.size(), 6u);
}

TEST_F(ScrollbackTest, RewrapKeepsMarksWithTheirText) {
  push(U"abcde", 0, Row::kWrapped | Row::kPromptStart);
  push(U"fgh", 0, Row::kInputStart);
  scrollback_.rewrap(4, [] {});
  EXPECT_EQ(all(), "abcd+efgh|");
  EXPECT_EQ(scrollback_.read(0).flags, Row::kPromptStart);
  EXPECT_EQ(scrollback_.read(1).flags, Row::kInputStart);
}

TEST_F(ScrollbackTest, RewrapLeavesTheLastLineOpen) {
  push(U"abcd", 0, Row::kWrapped);
  scrollback_.rewrap(3, [] {});
  EXPECT_EQ(all(), "abc+d+");
}

TEST_F(ScrollbackTest, ClearForgetsEverything) {
  push(U"x");
  scrollback_.clear();
  EXPECT_TRUE(scrollback_.empty());
  push(U"y");
  EXPECT_EQ(all(), "y|");
}

// Rows asked for one by one from the newest, over several changes of width, are those a reader of everything
// gets.
TEST_F(ScrollbackTest, a_change_of_width_is_done_as_far_as_it_is_read) {
  Scrollback other({1000, size_t{64} << 20}, styles_, clusters_);
  std::vector<Cell> cells;
  for (uint32_t i = 0; i < 900; i++) {
    cells.assign(i % 5 + 1, Cell{'a' + i % 26, 0});
    Row row;
    row.cells = cells.data();
    row.used = static_cast<uint32_t>(cells.size());
    if (i % 3 == 0) row.set(Row::kWrapped);
    scrollback_.push(row);
    other.push(row);
  }
  for (const uint32_t cols : {4u, 9u, 7u}) {
    scrollback_.rewrap(cols, [] {});
    other.rewrap(cols, [] {});
    EXPECT_GT(other.size(), 0u);  // settles at every width
  }
  EXPECT_EQ(scrollback_.available(3), 3u);
  std::vector<std::string> newest;
  for (size_t i = other.size(); i > other.size() - 3; i--) newest.push_back(other.read(i - 1).text);
  for (const std::string& text : newest) {
    std::string popped;
    for (const Cell& cell : scrollback_.pop().cells) clusters_.append_utf8(cell.glyph(), popped);
    EXPECT_EQ(popped, text);
  }
  ASSERT_EQ(scrollback_.size(), other.size() - 3);
  for (size_t i = 0; i < scrollback_.size(); i++) EXPECT_EQ(scrollback_.read(i), other.read(i)) << i;
}

}  // namespace
}  // namespace ttyward::vt
