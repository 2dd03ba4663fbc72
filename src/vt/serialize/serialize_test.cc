#include "vt/serialize/serialize.h"

#include <gtest/gtest.h>

#include <random>
#include <string>

#include "vt/testing.h"

namespace ttyward::vt {
namespace {

std::string rendered(std::string_view bytes, Format format, WithHistory history = WithHistory::No,
                     int cols = 20, int rows = 4) {
  ScreenOptions options;
  options.cols = cols;
  options.rows = rows;
  Screen screen(options);
  screen.feed(bytes);
  return screen_as(screen, format, history);
}

TEST(TextFormat, joins_wrapped_rows_and_trims) {
  EXPECT_EQ(rendered("0123456789012345678901234\r\nnext  ", Format::Text),
            "0123456789012345678901234\nnext\n");
  EXPECT_EQ(rendered("\r\n\r\nx", Format::Text), "\n\nx\n");
  EXPECT_EQ(rendered("", Format::Text), "");
}

TEST(TextFormat, a_wide_character_that_did_not_fit_leaves_no_space_behind) {
  EXPECT_EQ(rendered("0123456789012345678中文", Format::Text), "0123456789012345678中文\n");
}

TEST(TextFormat, history_comes_first) {
  EXPECT_EQ(rendered("1\r\n2\r\n3\r\n4\r\n5\r\n6", Format::Text, WithHistory::Yes), "1\n2\n3\n4\n5\n6\n");
  EXPECT_EQ(rendered("1\r\n2\r\n3\r\n4\r\n5\r\n6", Format::Text), "3\n4\n5\n6\n");
}

TEST(JsonFormat, has_the_promised_shape) {
  const std::string json =
      rendered("\033]2;T\"t\033\\\033[1;38;5;196mr\033[0;4:3;48;2;1;2;3mu\033[m", Format::Json);
  EXPECT_NE(json.find(R"("cols":20,"rows":4,"cursor":{"row":0,"col":2,"visible":true,"shape":"block")"),
            std::string::npos)
      << json;
  EXPECT_NE(json.find(R"("alternate":false,"title":"T\"t","modes":{)"), std::string::npos);
  EXPECT_NE(
      json.find(
          R"({"row":0,"wrapped":false,"segments":[{"text":"r","bold":true,"dim":false,"italic":false,"underline":false,"inverse":false,"foreground":"#ff0000","background":null},{"text":"u","bold":false,"dim":false,"italic":false,"underline":true,"inverse":false,"foreground":null,"background":"#010203","underline_style":"curly"}]})"),
      std::string::npos)
      << json;
  EXPECT_NE(json.find(R"({"row":3,"wrapped":false,"segments":[]})"), std::string::npos);
}

TEST(JsonFormat, history_rows_are_negative) {
  const std::string json = rendered("1\r\n2\r\n3\r\n4\r\n5", Format::Json, WithHistory::Yes);
  EXPECT_NE(json.find(R"({"row":-1,"wrapped":false,"segments":[{"text":"1")"), std::string::npos) << json;
}

TEST(HtmlFormat, escapes_text_and_links_only_what_is_safe) {
  const std::string html =
      rendered("<b>&\033]8;;javascript:x\033\\j\033]8;;https://e.x/?a\"b\033\\k\033]8;;\033\\", Format::Html,
               WithHistory::No, 60);
  EXPECT_NE(html.find("&lt;b&gt;&amp;"), std::string::npos) << html;
  EXPECT_EQ(html.find("javascript"), std::string::npos) << html;
  EXPECT_NE(html.find("<a href=\"https://e.x/?a&quot;b\" rel=\"noopener noreferrer\">k</a>"),
            std::string::npos)
      << html;
}

TEST(SvgFormat, places_text_by_column) {
  const std::string svg = rendered("ab\033[41mcd", Format::Svg);
  EXPECT_NE(svg.find(">ab</text>"), std::string::npos) << svg;
  EXPECT_NE(svg.find("x=\"30.8\""), std::string::npos) << svg;  // column 2
  EXPECT_NE(svg.find("fill=\"#cd0000\""), std::string::npos) << svg;
}

// --- replaying the ANSI form

Snapshot replayed(const Screen& screen, WithHistory history) {
  ScreenOptions options;
  options.cols = screen.cols();
  options.rows = screen.rows();
  Screen other(options);
  other.feed(screen_as(screen, Format::Ansi, history));
  return take_snapshot(other);
}

void expect_replay(std::string_view bytes, WithHistory history = WithHistory::No) {
  ScreenOptions options;
  options.cols = 20;
  options.rows = 6;
  Screen screen(options);
  screen.feed(bytes);
  Snapshot original = take_snapshot(screen);
  Snapshot copy = replayed(screen, history);
  for (Line& line : original.lines) line.trim();
  for (Line& line : copy.lines) line.trim();
  ASSERT_EQ(copy.lines.size(), original.lines.size());
  for (size_t r = 0; r < copy.lines.size(); r++) {
    EXPECT_EQ(copy.lines[r].text, original.lines[r].text) << "row " << r;
    EXPECT_EQ(copy.lines[r].wrapped, original.lines[r].wrapped) << "row " << r;
    EXPECT_EQ(copy.lines[r].spans.size(), original.lines[r].spans.size()) << "row " << r;
  }
  EXPECT_EQ(copy.cursor.row, original.cursor.row);
  EXPECT_EQ(copy.cursor.col, original.cursor.col);
  EXPECT_EQ(copy.cursor.pending_wrap, original.cursor.pending_wrap);
  EXPECT_EQ(copy.modes, original.modes);
  EXPECT_EQ(copy.title, original.title);
  EXPECT_TRUE(copy == original) << screen_as(screen, Format::Ansi, history);
}

TEST(AnsiFormat, replay_gives_the_same_screen) {
  expect_replay("plain");
  expect_replay("\033[1;31mred\033[0m \033[4:3;58:2::1:2:3mcurly\033[m\r\n\033[7minv\033[K");
  expect_replay("0123456789012345678901234\r\nx");
  expect_replay("01234567890123456789");                  // pending wrap
  expect_replay("\033[31m0123456789012345678\033[32mZ");  // and its style
  expect_replay("012345678901234567中");
  expect_replay("0123456789012345678中文");
  expect_replay("\033[2;4r\033[?6h\033[2;3Hx");
  expect_replay("\033[?69h\033[3;10s\033[2;4r\033[3;5Hy");
  expect_replay("\033[?1049h\033[3;3Hfull\033[?25l\033[?1h\033=\033[?2004h\033[?1002;1006h");
  expect_replay("\033]2;title\007\033[5 q\033[3g\033[5G\033H\033[12G\033H");
  expect_replay("\033#6wide\r\n\033#3top\r\n\033#4top");
  expect_replay("e\xcc\x81 \xf0\x9f\x91\xa9\xe2\x80\x8d\xf0\x9f\x92\xbb");
  expect_replay("\033[?2027h\xf0\x9f\x91\xa9\xe2\x80\x8d\xf0\x9f\x92\xbbx");
  expect_replay("\033[44m\033[2J\033[3;3Hblue");
  expect_replay("\033[4h\033[20habc\033[3D");
  expect_replay("\033]8;id=a;https://x.y/\033\\link\033]8;;\033\\ no");
  expect_replay("1\r\n2\r\n3\r\n4\r\n5\r\n6\r\n7\r\n8", WithHistory::Yes);
}

// Random programs from a grammar of ordinary sequences; grapheme mode is not toggled half way.
TEST(AnsiFormat, replay_gives_the_same_screen_for_random_programs) {
  const char* pieces[] = {"a",
                          "hello",
                          "\r\n",
                          "\033[A",
                          "\033[3C",
                          "\033[1;31m",
                          "\033[0m",
                          "\033[44m",
                          "\033[K",
                          "\033[J",
                          "\033[2;5H",
                          "\033[5;18H",
                          "中",
                          "é",
                          "e\xcc\x81",
                          "\033[2L",
                          "\033[M",
                          "\033[3P",
                          "\033[2@",
                          "\033[4X",
                          "\t",
                          "\b",
                          "\033[?7l",
                          "\033[?7h",
                          "\033[2;5r",
                          "\033[r",
                          "\033[?6h",
                          "\033[?6l",
                          "\033M",
                          "\033D",
                          "\033[4m",
                          "\033[38;5;9m",
                          "\033[48;2;9;8;7m",
                          "\033(0qx\033(B",
                          "0123456789012345678901234567",
                          "\033[?69h",
                          "\033[3;15s",
                          "\033[?69l",
                          "\033[2S",
                          "\033[T",
                          "\033[1\"q",
                          "\033[0\"q",
                          "\033[?1h",
                          "\033[?25l",
                          "\033[?1003h",
                          "\033]2;t\007",
                          "\033[3g",
                          "\033H"};
  std::mt19937 random(7);
  for (int round = 0; round < 2000; round++) {
    std::string bytes;
    for (int i = 0; i < 30; i++) bytes += pieces[random() % std::size(pieces)];
    expect_replay(bytes);
    if (::testing::Test::HasFailure()) {
      ADD_FAILURE() << "round " << round;
      return;
    }
  }
}

}  // namespace
}  // namespace ttyward::vt
