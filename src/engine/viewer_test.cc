#include "engine/viewer.h"

#include <gtest/gtest.h>

#include <random>

#include "engine/testing.h"
#include "vt/snapshot.h"

namespace ttyward::engine {
namespace {

using testing::Bench;

vt::ScreenOptions sized(int cols, int rows) {
  vt::ScreenOptions options;
  options.cols = cols;
  options.rows = rows;
  return options;
}

// What is to be seen of a screen in a window of this size.
std::vector<vt::Line> look_of(const vt::Screen& screen, int cols, int rows, int top = 0, int left = 0) {
  std::vector<vt::Line> lines;
  for (int r = 0; r < rows; r++) {
    vt::Line line;
    for (int c = 0; c < cols && r + top < screen.rows() && c + left < screen.cols(); c++) {
      const vt::Cell cell = screen.cell(r + top, c + left);
      if (cell.kind() == vt::CellKind::WideTail) continue;
      std::string text;
      if (!cell.is_empty()) screen.append_glyph(cell, text);
      vt::Style style = screen.style(cell.style);
      style.link = 0;
      style.clear(vt::Style::kProtected);
      line.add(text.empty() ? " " : text, cell.kind() == vt::CellKind::Wide ? 2 : 1, style);
    }
    line.trim();
    lines.push_back(std::move(line));
  }
  return lines;
}

std::string text_of(const std::vector<vt::Line>& lines) {
  std::string out;
  for (const vt::Line& line : lines) out += line.text + "\n";
  return out;
}

void expect_same(const vt::Screen& program, const vt::Screen& person) {
  const auto want = look_of(program, person.cols(), person.rows());
  const auto got = look_of(person, person.cols(), person.rows());
  EXPECT_EQ(text_of(want), text_of(got));
  EXPECT_TRUE(want == got) << "styles differ";
  EXPECT_EQ(program.cursor().row, person.cursor().row);
  EXPECT_EQ(program.cursor().col, person.cursor().col);
  EXPECT_EQ(program.cursor_visible(), person.cursor_visible());
}

TEST(Painter, WhatIsPaintedIsWhatIsThere) {
  vt::Screen program(sized(40, 10));
  vt::Screen person(sized(40, 10));
  Painter painter(40, 10);
  std::mt19937 random(7);
  const std::vector<std::string> pieces = {
      "plain text ",
      "\r\n",
      "\033[31;1mred\033[0m",
      "\033[3;5H",
      "\033[K",
      "日本語",
      "e\u0301",
      "\033[2J",
      "\033[48;2;10;20;30mrgb",
      "\033[7minverse\033[27m",
      "\033[?1049h",
      "\033[?1049l",
      "\033[L",
      "\033[M",
      "\033[4:3mcurly\033[24m",
      "\033[2;8r",
      "\033[r",
      "\033[10;1H\n\n",
      "\t",
      "\b\b",
      "\033[5@",
      "\033[3P",
      "\033[?25l",
      "\033[?25h",
      "👩‍👩‍👧",
      "\033]8;;http://example.org\033\\link\033]8;;\033\\",
      "\033[0m",
      "long line that wraps around the edge of the window, twice if need be, and then some more of it"};
  for (int step = 0; step < 3000; step++) {
    program.feed(pieces[random() % pieces.size()]);
    if (random() % 3 != 0) continue;
    if (random() % 50 == 0) painter.start_over();
    person.feed(painter.paint(program));
    expect_same(program, person);
    if (::testing::Test::HasFailure()) FAIL() << "at step " << step;
  }
  painter.paint(program);
  EXPECT_EQ(painter.paint(program), "");
}

TEST(Painter, AWindowSmallerThanTheScreenFollowsTheCursor) {
  vt::Screen program(sized(40, 10));
  program.feed("top\033[10;30Hbottom日x");
  Painter painter(10, 4);
  vt::Screen person(sized(10, 4));
  person.feed(painter.paint(program));
  const vt::Cursor cursor = person.cursor();
  EXPECT_EQ(cursor.row, 3);
  EXPECT_EQ(cursor.col, 9);
  EXPECT_EQ(look_of(person, 10, 4)[3].text, "bottom日x");
  program.feed("\033[H");
  person.feed(painter.paint(program));
  EXPECT_EQ(look_of(person, 10, 4)[0].text, "top");
  EXPECT_EQ(person.cursor().row, 0);
}

TEST(Painter, ALargerWindowHasItAtTheTopLeft) {
  vt::Screen program(sized(10, 3));
  program.feed("0123456789abc");
  Painter painter(20, 6);
  vt::Screen person(sized(20, 6));
  person.feed(painter.paint(program));
  EXPECT_EQ(text_of(look_of(person, 20, 6)), "0123456789\nabc\n\n\n\n\n");
  program.resize(20, 3);
  person.feed(painter.paint(program));
  EXPECT_EQ(text_of(look_of(person, 20, 6)), text_of(look_of(program, 20, 6)));
}

TEST(Painter, OnlyModesThatDecideAboutInputAreHandedOnAndTakenBack) {
  vt::Screen program(sized(20, 5));
  vt::Screen person(sized(20, 5));
  const vt::ModeSet before = person.modes();
  Painter painter(20, 5);
  program.feed("\033[?1h\033=\033[?2004h\033[?1002h\033[?1006h\033[?1004h\033[>1u\033[5 q\033[20h\033[4h");
  program.feed("\033]2;title\007\033]52;c;eA==\007\033[c\033[6n\033]4;1;#123456\007");
  person.feed(painter.paint(program));
  using vt::Mode;
  for (const Mode mode : {Mode::ApplicationCursorKeys, Mode::ApplicationKeypad, Mode::BracketedPaste,
                          Mode::MouseDrag, Mode::MouseSgr, Mode::FocusEvents}) {
    EXPECT_TRUE(person.modes().has(mode)) << static_cast<int>(mode);
  }
  EXPECT_FALSE(person.modes().has(Mode::LineFeedNewLine));
  EXPECT_FALSE(person.modes().has(Mode::Insert));
  EXPECT_EQ(person.keyboard().kitty_flags, 1);
  EXPECT_EQ(person.title(), "");
  EXPECT_EQ(person.take_replies(), "");
  EXPECT_TRUE(person.take_events().empty());
  EXPECT_TRUE(person.palette() == vt::Screen().palette());
  person.feed(painter.leave());
  vt::ModeSet after = person.modes();
  after.assign(Mode::CursorBlink, before.has(Mode::CursorBlink));  // its own shape is a terminal's own choice
  EXPECT_EQ(after, before);
  EXPECT_EQ(person.keyboard().kitty_flags, 0);
  EXPECT_FALSE(person.is_alternate());
}

// A person's terminal that is fed frames as they come.
struct Person {
  Person(Bench& bench, Terminal& terminal, int cols, int rows)
      : screen(sized(cols, rows)), viewer(bench.loop(), terminal, cols, rows, [this] {
          const std::string frame = viewer.take_frame();
          if (frame.empty()) return;
          frames++;
          screen.feed(frame);
        }) {}
  vt::Screen screen;
  int frames = 0;
  Viewer viewer;
};

TEST(Viewer, FollowsARealEditorAndAShell) {
  Bench bench;
  Terminal& t = bench.shell();
  Person person(bench, t, 80, 24);
  const auto settled = [&] {
    return look_of(t.output().screen(), 80, 24) == look_of(person.screen, 80, 24) &&
           t.output().screen().cursor().row == person.screen.cursor().row &&
           t.output().screen().cursor().col == person.screen.cursor().col;
  };
  bench.exec(t, "seq 1 200 | sed 's/^/line /' > text; cat text; printf '\\033[32mgreen\\033[0m\\n'");
  bench.until(settled);
  ASSERT_TRUE(t.submit(bench.request("vim -u NONE -N text")));
  bench.until([&] { return t.output().screen().is_alternate() && settled(); });
  t.input("50Gofresh\033", Owner::User, [](auto) {});
  bench.until([&] {
    return text_of(look_of(person.screen, 80, 24)).find("fresh") != std::string::npos && settled();
  });
  pty::WindowSize size;
  size.columns = 60;
  size.rows = 20;
  t.resize(size, [](auto) {});
  bench.until([&] { return t.output().screen().rows() == 20 && settled(); });
  t.input(":q!\r", Owner::User, [](auto) {});
  bench.until([&] { return !t.busy() && settled(); });
  EXPECT_GT(person.frames, 3);
}

TEST(Viewer, WhoIsSlowGetsOneFrameOfNow) {
  Bench bench;
  Terminal& t = bench.shell();
  Viewer viewer(bench.loop(), t, 80, 24, {});
  bench.until([&] { return viewer.ready(); });
  bench.exec(t, "seq 1 20000");
  vt::Screen person(sized(80, 24));
  const std::string frame = viewer.take_frame();
  EXPECT_LT(frame.size(), 8000U);
  person.feed(frame);
  expect_same(t.output().screen(), person);
  EXPECT_FALSE(viewer.ready());
  viewer.start_over();
  bench.until([&] { return viewer.ready(); });
  vt::Screen other(sized(80, 24));
  other.feed(viewer.take_frame());
  expect_same(t.output().screen(), other);
}

TEST(Viewer, ATerminalThatGoesIsTold) {
  Bench bench;
  Terminal& t = bench.shell();
  int told = 0;
  Viewer viewer(bench.loop(), t, 80, 24, [&] { told++; });
  t.kill();
  bench.until([&] { return viewer.closed() && viewer.ready(); });
  const int before = told;
  bench.until([&] { return !bench.holder_lives(t); });
  bench.forget_all();
  bench.until([&] { return told > before; });
  EXPECT_TRUE(viewer.closed());
  EXPECT_EQ(viewer.take_frame(), "");
}

}  // namespace
}  // namespace ttyward::engine
