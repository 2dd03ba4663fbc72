// Named limits of the screen: hostile output changes the screen or nothing, and never grows without bound.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include "vt/screen.h"

namespace ttyward::vt {
namespace {

std::string repeated(std::string_view text, int times) {
  std::string out;
  for (int i = 0; i < times; i++) out += text;
  return out;
}

TEST(ScreenLimits, SizesAreClamped) {
  ScreenOptions options;
  options.cols = 0;
  options.rows = -5;
  Screen screen(options);
  EXPECT_EQ(screen.cols(), 1);
  EXPECT_EQ(screen.rows(), 1);
  screen.resize(1'000'000, 1'000'000);
  EXPECT_EQ(screen.cols(), Screen::kMaxCols);
  EXPECT_LE(screen.cols() * screen.rows(), Screen::kMaxCells);
}

TEST(ScreenLimits, TitlesAreCutAtACharacter) {
  Screen screen;
  screen.feed("\033]0;" + repeated("漢", 1000) + "\007");
  EXPECT_LE(screen.title().size(), Screen::kMaxTitleBytes);
  EXPECT_EQ(screen.title(), repeated("漢", static_cast<int>(Screen::kMaxTitleBytes / 3)));
}

TEST(ScreenLimits, TheTitleStackDropsTheOldest) {
  Screen screen;
  for (int i = 0; i < 100; i++) screen.feed(fmt::format("\033]0;title {}\007\033[22t", i));
  for (size_t i = 0; i < 100; i++) screen.feed("\033[23t");
  EXPECT_EQ(screen.title(), fmt::format("title {}", 100 - Screen::kMaxTitleStack));
}

TEST(ScreenLimits, UnreadRepliesAreBounded) {
  Screen screen;
  screen.feed(repeated("\033[6n", 100'000));
  const std::string replies = screen.take_replies();
  EXPECT_LE(replies.size(), Screen::kMaxReplyBytes);
  EXPECT_TRUE(replies.ends_with("R"));  // whole answers only
  screen.feed("\033[5n");
  EXPECT_EQ(screen.take_replies(), "\033[0n");
}

TEST(ScreenLimits, UnreadEventsAreBoundedAndCounted) {
  Screen screen;
  screen.feed(repeated("\007", 10'000));
  EXPECT_EQ(screen.take_events().size(), Screen::kMaxEvents);
  EXPECT_EQ(screen.dropped_events(), 10'000 - Screen::kMaxEvents);
}

TEST(ScreenLimits, RepeatedBeyondTheScreenIsAsIfAllOfThemWerePrinted) {
  for (const char* const before :
       {"", "abc", "\033[?69h\033[5;20s\033[3;6H", "\033[?7l", "\033[4h", "\033[31m"}) {
    for (const char* const what : {"x", "漢", "e\u0301"}) {
      for (const int n : {1, 79, 80, 5000, 20'000, 65'535}) {
        Screen counted;
        Screen printed;
        counted.feed(std::string(before) + what + fmt::format("\033[{}b", n));
        printed.feed(before + repeated(what, n + 1));
        EXPECT_EQ(counted.cursor().row, printed.cursor().row) << before << what << n;
        EXPECT_EQ(counted.cursor().col, printed.cursor().col) << before << what << n;
        for (int r = 0; r < printed.rows(); r++) {
          EXPECT_EQ(counted.line(r).text, printed.line(r).text) << before << what << n << " row " << r;
        }
      }
    }
  }
}

TEST(ScreenLimits, RepeatAndScrollCountsAreHarmless) {
  Screen screen;
  screen.feed("a\033[65535b\033[65535S\033[65535T\033[65535L\033[65535M\033[65535@\033[65535P\033[65535X");
  EXPECT_LE(screen.history_size(), 5000u);
}

TEST(ScreenLimits, StylesAreSweptWhenNobodyUsesThem) {
  Screen screen;
  std::string output;
  for (int i = 0; i < 300'000; i++) {
    output += fmt::format("\033[38;2;{};{};{}mx\r", i & 255, i >> 8 & 255, i >> 16);
    if (output.size() > 100'000) {
      screen.feed(output);
      output.clear();
    }
  }
  EXPECT_LT(screen.memory(), size_t{4} << 20);
}

TEST(ScreenLimits, ClustersAreSweptWhenNobodyUsesThem) {
  Screen screen;
  for (int i = 0; i < 200'000; i++) {
    std::string cluster = "\r";
    base::append_utf8(cluster, static_cast<char32_t>(0x4E00 + i % 20'000));
    base::append_utf8(cluster, static_cast<char32_t>(0x300 + i / 20'000));
    screen.feed(cluster);
  }
  EXPECT_LT(screen.memory(), size_t{4} << 20);
}

TEST(ScreenLimits, LinksAreSweptWhenNobodyUsesThem) {
  Screen screen;
  for (int i = 0; i < 20'000; i++) screen.feed(fmt::format("\033]8;;http://host/{}\007x\033]8;;\007\r", i));
  screen.feed("\033]8;;http://last/\007y");
  EXPECT_EQ(screen.link(screen.style(screen.cell(0, 0).style).link).uri, "http://last/");
}

TEST(ScreenLimits, TheKeyboardStackDropsTheOldest) {
  Screen screen;
  for (int i = 0; i < 100; i++) screen.feed("\033[>1u");
  screen.feed("\033[>31u\033[<u");
  EXPECT_EQ(screen.keyboard().kitty_flags, 1);
  screen.feed("\033[<65535u");
  EXPECT_EQ(screen.keyboard().kitty_flags, 0);
}

TEST(ScreenLimits, AReadOfAnUnterminatedStringCostsNoMoreThanItsLimit) {
  Screen screen;
  screen.feed("\033]0;");
  const std::string chunk(1 << 16, 'a');
  for (int i = 0; i < 200; i++) screen.feed(chunk);
  EXPECT_LT(screen.memory(), size_t{8} << 20);
  screen.feed("\007ok");
  EXPECT_EQ(screen.line(0).text, "ok");
  EXPECT_EQ(screen.title(), "");
}

TEST(ScreenLimits, EndingSynchronizedOutputShowsWhatWasHeld) {
  Screen screen;
  screen.feed("old\033[?2026h\rnew");
  EXPECT_EQ(screen.line(0).text, "old");
  screen.end_synchronized_output();
  EXPECT_EQ(screen.line(0).text, "new");
}

TEST(ScreenLimits, RowsKnowWhenTheyChanged) {
  Screen screen;
  screen.feed("a\r\nb");
  const Seq before = screen.seq();
  screen.feed("\033[1;1Hx");
  EXPECT_GT(screen.row_changed(0), before);
  EXPECT_LE(screen.row_changed(1), before);
}

}  // namespace
}  // namespace ttyward::vt
