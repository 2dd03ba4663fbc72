#include "terminal/live_lines.h"

#include <gtest/gtest.h>

#include <vector>

namespace ttyward::terminal {
namespace {

using Source = BinarySniffer::Source;
using Lines = std::vector<std::string>;

struct Listener {
  explicit Listener(Source source = Source::Terminal, int cols = 20)
      : live(cols, source, [this](std::string_view line) { lines.emplace_back(line); }) {}
  Lines lines;
  LiveLines live;
};

TEST(LiveLines, a_line_is_handed_on_when_it_ends) {
  Listener listener;
  listener.live.feed("one\r\ntw");
  EXPECT_EQ(listener.lines, (Lines{"one\n"}));
  listener.live.feed("o\r\nthree");
  EXPECT_EQ(listener.lines, (Lines{"one\n", "two\n"}));
  listener.live.finish();
  EXPECT_EQ(listener.lines, (Lines{"one\n", "two\n", "three\n"}));
}

TEST(LiveLines, pipes_have_bare_line_feeds) {
  Listener listener(Source::Pipe);
  listener.live.feed("one\n\ntwo\n");
  listener.live.finish();
  EXPECT_EQ(listener.lines, (Lines{"one\n", "\n", "two\n"}));
}

TEST(LiveLines, a_progress_bar_comes_once_in_its_last_form) {
  Listener listener;
  for (int i = 0; i <= 100; i++) listener.live.feed("\r" + std::to_string(i) + "%");
  EXPECT_EQ(listener.lines, Lines{});
  listener.live.feed("\r\n\x1b[31mred\x1b[0m abc\b\b\bxyz\r\n");
  EXPECT_EQ(listener.lines, (Lines{"100%\n", "red xyz\n"}));
}

TEST(LiveLines, wrapped_lines_are_joined) {
  Listener listener;
  const std::string line(100, 'x');
  listener.live.feed(line + "\r\n" + line);
  listener.live.finish();
  EXPECT_EQ(listener.lines, (Lines{line + "\n", line + "\n"}));
}

TEST(LiveLines, a_line_without_end_comes_in_pieces) {
  Listener listener;
  const std::string line(200'000, 'x');
  listener.live.feed(line);
  EXPECT_GE(listener.lines.size(), 2u);
  listener.live.feed("\r\nnext\r\n");
  std::string all;
  for (const std::string& piece : listener.lines) all += piece;
  EXPECT_EQ(all, line + "\nnext\n");
}

TEST(LiveLines, a_full_screen_program_is_silent) {
  Listener listener;
  listener.live.feed("before\r\n\x1b[?1049h\x1b[Hpicture\r\nmore\r\n\x1b[?1049lafter\r\n");
  listener.live.finish();
  EXPECT_EQ(listener.lines, (Lines{"before\n", "after\n"}));
}

TEST(LiveLines, an_unfinished_character_is_shown_as_one) {
  Listener listener;
  listener.live.feed("a\xE2\x82");
  listener.live.finish();
  EXPECT_EQ(listener.lines, (Lines{"a\xEF\xBF\xBD\n"}));
}

}  // namespace
}  // namespace ttyward::terminal
