#include "engine/viewer.h"

#include <gtest/gtest.h>

#include <map>

#include "engine/testing.h"

namespace ttyward::engine {
namespace {

using testing::Bench;

// What somebody has who applies what comes.
struct Person {
  Person(Bench& bench, Terminal& terminal) : viewer(bench.loop(), terminal, [this] { take(); }) {}

  void take() {
    const auto delta = viewer.take();
    if (!delta) return;
    taken++;
    if (delta->reset) rows.clear();
    for (const vt::Delta::ChangedRow& row : delta->rows) rows[row.row] = row.line;
    look = delta->look;
  }
  bool sees(const vt::Screen& screen) {
    if (look.rows != screen.rows() || look.cursor != screen.cursor()) return false;
    for (int r = 0; r < screen.rows(); r++) {
      vt::Line line = screen.line(r);
      line.trim();
      if (!(rows[look.first_row + static_cast<uint64_t>(r)] == line)) return false;
    }
    return true;
  }
  bool shows(const std::string& text) {
    for (int r = 0; r < look.rows; r++) {
      if (rows[look.first_row + static_cast<uint64_t>(r)].text.find(text) != std::string::npos) return true;
    }
    return false;
  }

  std::map<vt::StableRow, vt::Line> rows;
  vt::Delta::Look look;
  int taken = 0;
  Viewer viewer;
};

TEST(Viewer, FollowsARealEditorAndAShell) {
  Bench bench;
  Terminal& t = bench.shell();
  Person person(bench, t);
  const auto settled = [&] { return person.sees(t.output().screen()); };
  bench.exec(t, "seq 1 200 | sed 's/^/line /' > text; cat text; printf '\\033[32mgreen\\033[0m\\n'");
  bench.until(settled);
  ASSERT_TRUE(t.submit(bench.request("vim -u NONE -N text")));
  bench.until([&] { return t.output().screen().is_alternate() && settled(); });
  EXPECT_TRUE(person.look.alternate);
  t.input("50Gofresh\033", Owner::User, [](auto) {});
  bench.until([&] { return person.shows("fresh") && settled(); });
  pty::WindowSize size;
  size.columns = 60;
  size.rows = 20;
  t.resize(size, [](auto) {});
  bench.until([&] { return t.output().screen().rows() == 20 && settled(); });
  t.input(":q!\r", Owner::User, [](auto) {});
  bench.until([&] { return !t.busy() && settled(); });
  EXPECT_GT(person.taken, 3);
}

TEST(Viewer, WhoIsSlowGetsOneDeltaOfNow) {
  Bench bench;
  Terminal& t = bench.shell();
  Viewer viewer(bench.loop(), t, {});
  bench.until([&] { return viewer.ready(); });
  EXPECT_TRUE(viewer.take()->reset);
  bench.exec(t, "seq 1 20000");
  bench.until([&] { return viewer.ready(); });
  const auto delta = viewer.take();
  ASSERT_TRUE(delta);
  EXPECT_FALSE(delta->reset);
  EXPECT_LE(delta->rows.size(), 24U);
  EXPECT_FALSE(viewer.ready());
  EXPECT_FALSE(viewer.take());
  EXPECT_EQ(viewer.take_all().rows.size(), 24U);
}

TEST(Viewer, ATerminalThatGoesIsTold) {
  Bench bench;
  Terminal& t = bench.shell();
  int told = 0;
  Viewer viewer(bench.loop(), t, [&] { told++; });
  t.kill();
  bench.until([&] { return viewer.closed() && viewer.ready(); });
  const int before = told;
  bench.until([&] { return !bench.holder_lives(t); });
  bench.forget_all();
  bench.until([&] { return told > before; });
  EXPECT_TRUE(viewer.closed());
  EXPECT_FALSE(viewer.take());
}

}  // namespace
}  // namespace ttyward::engine
