#include "acp/plain_text.h"

#include <gtest/gtest.h>

namespace ttyward::acp {
namespace {

std::string all(std::string_view bytes, size_t limit = 1 << 20) {
  PlainText text(limit);
  text.feed(bytes);
  text.settle();
  return std::string(text.text());
}

TEST(PlainText, LeavesOutWhatIsNotText) {
  EXPECT_EQ(all("one\r\ntwo\n"), "one\ntwo\n");
  EXPECT_EQ(all("\x1b[1;31mred\x1b[0m\x1b]0;title\x07.\n"), "red.\n");
  EXPECT_EQ(all("a\tb\n"), "a\tb\n");
  EXPECT_EQ(all("\xff\xe2\x82"
                "b"),
            "\xEF\xBF\xBD\xEF\xBF\xBD"
            "b");
}

TEST(PlainText, ShowsALineThatIsDrawnOverOnce) {
  EXPECT_EQ(all("10%\r20%\r100%\ndone\n"), "100%\ndone\n");
  EXPECT_EQ(all("a long line\r\x1b[Kshort\n"), "short\n");
  EXPECT_EQ(all("abc\b\bX\n"), "aXc\n");
  EXPECT_EQ(all("abc\x1b[2GX\n"), "aXc\n");
}

TEST(PlainText, OnlyGrows) {
  const std::string bytes = "start\r\nPassword: \r\nx 1%\rx 2%\rx 3%\r\n\x1b[2Kend é😀 of it";
  for (size_t piece = 1; piece < 7; piece++) {
    PlainText text(1 << 20);
    std::string seen;
    for (size_t at = 0; at < bytes.size(); at += piece) {
      text.feed(std::string_view(bytes).substr(at, piece));
      text.settle();
      ASSERT_TRUE(text.text().starts_with(seen)) << seen << "|" << text.text();
      seen = text.text();
    }
    EXPECT_TRUE(seen.starts_with("start\nPassword: \n"));
    EXPECT_TRUE(seen.ends_with("end é😀 of it"));
  }
}

TEST(PlainText, KeepsTheEndAndCutsBetweenCharacters) {
  for (const std::string character : {"é", "€", "😀"}) {
    for (size_t limit = 0; limit < 12; limit++) {
      PlainText text(limit);
      for (int i = 0; i < 5; i++) text.feed(character);
      text.settle();
      std::string wanted;
      for (size_t i = 0; i < std::min<size_t>(5, limit / character.size()); i++) wanted += character;
      EXPECT_EQ(text.text(), wanted) << limit;
      EXPECT_EQ(text.truncated(), limit < 5 * character.size());
    }
  }
}

TEST(PlainText, HoldsNoMoreThanItHasTo) {
  PlainText text(100);
  for (int i = 0; i < 100'000; i++) text.feed("a line of some length\n");
  EXPECT_EQ(text.text().size(), 100u);
  EXPECT_EQ(text.lines(), 100'000u);
  // A line without an end is handed out as it comes.
  PlainText endless(100);
  for (int i = 0; i < 10'000; i++) endless.feed("0123456789012345678901234567890123456789");
  EXPECT_EQ(endless.text().size(), 100u);
}

TEST(PlainText, GoesOnBehindAGap) {
  PlainText text(1000);
  text.feed("before\nhalf a li");
  text.skip();
  text.feed("after\n");
  EXPECT_EQ(text.text(), "after\n");
  EXPECT_TRUE(text.truncated());
}

TEST(PlainText, CanKeepLessLater) {
  PlainText text(100);
  text.feed("one\r\ntwo\u00e9\r\n");
  text.shrink(3);
  EXPECT_EQ(text.text(), "\u00e9\n");
  EXPECT_TRUE(text.truncated());
  text.feed("4\r\n");
  EXPECT_EQ(text.text(), "\n4\n");
}

}  // namespace
}  // namespace ttyward::acp
