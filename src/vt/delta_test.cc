#include "vt/delta.h"

#include <gtest/gtest.h>

#include <map>
#include <string>

#include "vt/testing.h"

namespace ttyward::vt {
namespace {

ScreenOptions small() {
  ScreenOptions options;
  options.cols = 10;
  options.rows = 3;
  return options;
}

std::string rows_of(const Delta& delta) {
  std::string out;
  for (const Delta::ChangedRow& row : delta.rows) out += std::to_string(row.row) + ":" + row.line.text + " ";
  return out;
}

TEST(Delta, holds_only_rows_changed_since) {
  Screen screen(small());
  screen.feed("a\r\nb\r\nc");
  const Seq seen = screen.seq();
  screen.feed("\033[2;1HB");
  EXPECT_EQ(rows_of(changes_since(screen, seen)), "1:B ");
  EXPECT_EQ(rows_of(changes_since(screen, screen.seq())), "");
}

TEST(Delta, rows_keep_their_numbers_when_the_screen_scrolls) {
  Screen screen(small());
  screen.feed("a\r\nb\r\nc");
  const Seq seen = screen.seq();
  screen.feed("\r\nd");
  const Delta delta = changes_since(screen, seen);
  EXPECT_EQ(rows_of(delta), "3:d ");
  EXPECT_EQ(delta.look.first_row, 1u);
  EXPECT_FALSE(delta.reset);
}

TEST(Delta, a_viewer_far_behind_gets_what_is_there_now) {
  Screen screen(small());
  screen.feed("x");
  const Seq seen = screen.seq();
  for (int i = 0; i < 50; i++) screen.feed("\r\nline");
  EXPECT_EQ(changes_since(screen, seen).rows.size(), 3u);
  EXPECT_TRUE(changes_since(screen, 0).reset);
}

// What changes while a frame is being made is not seen, and must not be missed when the frame is done.
TEST(Delta, a_look_during_synchronized_output_misses_nothing) {
  Screen screen(small());
  screen.feed("before");
  Seq seen = changes_since(screen, 0).seq;
  screen.feed("\033[?2026h\033[2;1Hhalf");
  const Delta meanwhile = changes_since(screen, seen);
  EXPECT_EQ(rows_of(meanwhile), "");
  seen = meanwhile.seq;
  screen.feed(" done\033[?2026l");
  EXPECT_EQ(rows_of(changes_since(screen, seen)), "1:half done ");
}

TEST(Delta, resize_and_alternate_screen_start_over) {
  Screen screen(small());
  screen.feed("abc");
  Seq seen = screen.seq();
  screen.resize(8, 3);
  EXPECT_TRUE(changes_since(screen, seen).reset);
  seen = screen.seq();
  screen.feed("\033[?1049h");
  EXPECT_TRUE(changes_since(screen, seen).reset);
}

// A viewer that applies deltas at random moments ends up with what the screen shows.
TEST(Delta, applied_in_turn_they_give_the_screen) {
  Screen screen(small());
  std::map<StableRow, std::string> viewer;
  Seq seen = 0;
  for (int i = 0; i < 300; i++) {
    screen.feed(i % 7 == 0   ? "\033[2;2Hxy\033[3;1H"
                : i % 5 == 0 ? "\033[1;3r\033[S\033[r\033[3;1H"
                             : "l" + std::to_string(i) + "\r\n");
    if (i % 3 != 0) continue;
    const Delta delta = changes_since(screen, seen);
    if (delta.reset) viewer.clear();
    for (const Delta::ChangedRow& row : delta.rows) viewer[row.row] = row.line.text;
    seen = delta.seq;
    for (int r = 0; r < screen.rows(); r++) {
      Line line = screen.line(r);
      line.trim();
      ASSERT_EQ(viewer[screen.stable_row(r)], line.text) << "step " << i << " row " << r;
    }
  }
}

TEST(Snapshot, during_synchronized_output_the_last_complete_frame_is_shown) {
  Screen screen(small());
  screen.feed("before\033[?2026h\033[2J\033[Hhalf");
  EXPECT_EQ(take_snapshot(screen).lines[0].text, "before");
  EXPECT_EQ(take_snapshot(screen).cursor.col, 6);
  screen.feed(" done\033[?2026l");
  EXPECT_EQ(take_snapshot(screen).lines[0].text, "half done");
  screen.feed("\033[?2026h\033[2J");
  screen.end_synchronized_output();
  EXPECT_EQ(take_snapshot(screen).lines[0].text, "");
}

}  // namespace
}  // namespace ttyward::vt
