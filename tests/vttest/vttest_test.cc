// vttest's screens, driven through a pseudo-terminal and compared with golden texts.
//
// A golden holds every screen of one menu, in order, with the looks of what is not plain. Each was judged by
// eye before it was kept. TTYWARD_UPDATE_GOLDENS=1 writes them anew, for looking at.
//
// 4_double_size asserts, cell for cell what xterm 379 shows for the same bytes at 80 columns:
//   - which rows are double and which half of a pair they are, the last DECDWL, DECDHL or DECSWL of a row
//     being the one that counts;
//   - that a double row has 40 columns: text wraps after them (screens 3 and 4, where vttest indents as for
//     132 columns), and the five tabs of the box's sides stop in the last one (screens 5 and 6);
//   - that the size of a row moves with it when the region scrolls (screen 6: half of the box).
#include <fmt/format.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <cstdlib>
#include <fstream>
#include <sstream>

#include "../support/dump.h"
#include "terminal.h"

namespace ttyward::test {
namespace {

using namespace ttyward::vt;

struct Menu {
  std::string name;
  std::string choices;  // typed one after the other, each followed by Return
};

std::string looks(const Style& style) {
  std::string out;
  if (style.has(Style::kBold)) out += " bold";
  if (style.has(Style::kBlink)) out += " blink";
  if (style.has(Style::kInverse)) out += " inverse";
  if (style.has(Style::kHidden)) out += " hidden";
  if (style.underline() != Underline::None) out += " underline";
  if (!style.foreground.is_default()) out += fmt::format(" fg{:x}", style.foreground.raw());
  if (!style.background.is_default()) out += fmt::format(" bg{:x}", style.background.raw());
  return out;
}

std::string picture(const Screen& screen) {
  std::string out = screen_text(screen) + "\n";
  for (int r = 0; r < screen.rows(); r++) {
    const Line line = screen.line(r);
    if ((line.flags & Row::kDoubleWidth) != 0) {
      const bool top = (line.flags & Row::kDoubleTop) != 0;
      const bool bottom = (line.flags & Row::kDoubleBottom) != 0;
      out += fmt::format("-- row {} is double{}{}\n", r, top ? ", upper half" : "",
                         bottom ? ", lower half" : "");
    }
    for (const Span& span : line.spans) {
      if (const std::string how = looks(span.style); !how.empty()) {
        out += fmt::format("-- {},{}+{}{}\n", r, span.col, span.cols, how);
      }
    }
  }
  return out;
}

class Vttest : public testing::TestWithParam<Menu> {};

TEST_P(Vttest, Screens) {
  if (access("/usr/bin/vttest", X_OK) != 0)
    GTEST_SKIP() << "vttest is not installed (./setup --tests brings it)";
  Terminal terminal({"/usr/bin/vttest", "24x80.80"}, 80, 24);
  const std::vector<std::string> pauses = {"Push <RETURN>"};
  const std::vector<std::string> any = {"Push <RETURN>", "): "};
  const auto in_menu = [&] { return terminal.recent().ends_with("): "); };
  ASSERT_TRUE(terminal.wait_for({"): "})) << escaped(terminal.recent());
  std::string all;
  int number = 0;
  const auto keep = [&] { all += fmt::format("=== {}\n", ++number) + picture(terminal.screen()); };
  std::istringstream choices(GetParam().choices);
  std::string choice;
  while (choices >> choice) {
    terminal.type(choice + "\r");
    ASSERT_TRUE(terminal.wait_for(any)) << escaped(terminal.recent());
    for (int pages = 0; !in_menu(); pages++) {
      ASSERT_LT(pages, 60);
      keep();
      terminal.type("\r");
      ASSERT_TRUE(terminal.wait_for(any)) << escaped(terminal.recent());
    }
  }
  const std::string path = TTYWARD_SOURCE_DIR "/tests/vttest/" + GetParam().name + ".txt";
  if (std::getenv("TTYWARD_UPDATE_GOLDENS") != nullptr) {
    std::ofstream(path) << all;
    GTEST_SKIP() << "wrote " << path;
  }
  std::ifstream file(path);
  std::stringstream golden;
  golden << file.rdbuf();
  EXPECT_EQ(golden.str(), all);
}

INSTANTIATE_TEST_SUITE_P(Menus, Vttest,
                         testing::Values(Menu{"1_cursor_movements", "1"}, Menu{"2_screen_features", "2"},
                                         Menu{"3_character_sets", "3 8 9 10 0"}, Menu{"4_double_size", "4"},
                                         Menu{"6_reports", "6 3 4 5 6 7 0"}, Menu{"8_insert_and_delete", "8"},
                                         Menu{"11_5_iso_cursor_movements", "11 5 1 2 3 4 5 6 7 8 9 0"},
                                         Menu{"11_7_iso_editing", "11 7 2 3 4 5 6 0"}),
                         [](const auto& test) { return "menu_" + test.param.name; });

}  // namespace
}  // namespace ttyward::test
