// The parts of full-screen views that are values: tables, keys, painting.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <boost/json/parse.hpp>

#include "cli/detach_key.h"
#include "cli/person_keys.h"
#include "cli/screen_painter.h"
#include "cli/shown_text.h"
#include "cli/table.h"
#include "cli/top_view.h"
#include "vt/serialize/serialize.h"

namespace ttyward::cli {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Not;

TEST(ShownText, CutsAtColumnsNotBytes) {
  EXPECT_EQ(cut_to("hello", 5), "hello");
  EXPECT_EQ(cut_to("hello!", 5), "hell…");
  EXPECT_EQ(cut_to("日本語", 4), "日…");
  EXPECT_EQ(cut_to("/a/long/path", 6, Cut::Begin), "…/path");
  EXPECT_EQ(pad_to("日", 4), "日  ");
  EXPECT_EQ(shown_width("é日"), 3U);
}

TEST(ShownText, Ages) {
  EXPECT_EQ(age_text(-5), "0s");
  EXPECT_EQ(age_text(99'000), "99s");
  EXPECT_EQ(age_text(100'000), "1m");
  EXPECT_EQ(age_text(7'200'000), "2h");
  EXPECT_EQ(age_text(int64_t{3} * 86'400'000), "3d");
}

TEST(Table, TheWidestColumnGivesFirst) {
  Table table({{"A"}, {"B", true}, {"C", true}});
  table.add({"fixed", "a very long text", "short"});
  EXPECT_THAT(table.lines(0), ElementsAre("A      B                 C", "fixed  a very long text  short"));
  EXPECT_THAT(table.lines(24), ElementsAre("A      B           C", "fixed  a very lo…  short"));
  for (const std::string& line : table.lines(10)) EXPECT_LE(shown_width(line), 10U);
}

TEST(DetachKey, IsFoundAmongOtherKeys) {
  auto key = DetachKey::named("C-]").value();
  auto typed = key.feed("ab");
  EXPECT_EQ(typed.for_program, "ab");
  EXPECT_FALSE(typed.detach);
  typed = key.feed(
      "c\x1D"
      "d");
  EXPECT_EQ(typed.for_program, "c");
  EXPECT_TRUE(typed.detach);
}

TEST(DetachKey, InEveryFormAKeyboardSendsIt) {
  auto key = DetachKey::named("C-]").value();
  EXPECT_TRUE(key.feed("\033[93;5u").detach);
  EXPECT_TRUE(key.feed("\033[27;5;93~").detach);
  EXPECT_FALSE(key.feed("\033[94;5u").detach);
}

TEST(DetachKey, ASequenceIsHeldBackUntilItIsClear) {
  auto key = DetachKey::named("C-b d").value();
  EXPECT_EQ(key.feed("x\x02").for_program, "x");
  EXPECT_TRUE(key.feed("d").detach);
  EXPECT_EQ(key.feed("\x02").for_program, "");
  EXPECT_EQ(key.feed("c").for_program,
            "\x02"
            "c");
  EXPECT_EQ(key.feed("\x02\x02").for_program, "\x02");
  EXPECT_TRUE(key.feed("d").detach);
  EXPECT_FALSE(DetachKey::named(""));
  EXPECT_FALSE(DetachKey::named("C-Nonsense"));
}

TEST(PersonKeys, ArrowsAndCharacters) {
  using Kind = PersonKey::Kind;
  const auto keys = person_keys("q\033[A\033OB\r\033[1;5C\033");
  EXPECT_THAT(keys, ElementsAre(PersonKey{Kind::Character, 'q'}, PersonKey{Kind::Up}, PersonKey{Kind::Down},
                                PersonKey{Kind::Enter}, PersonKey{Kind::Other}, PersonKey{Kind::Escape}));
}

// A person's terminal, and what it shows after everything that was painted.
class Painted : public ::testing::Test {
 protected:
  static vt::ScreenOptions size(int cols, int rows) {
    vt::ScreenOptions options;
    options.cols = cols;
    options.rows = rows;
    return options;
  }
  std::string paint(const std::string& status = "status") {
    const std::string bytes =
        painter_.paint(person_.cols(), person_.rows(), status, ScreenPainter::Input::Ours);
    person_.feed(bytes);
    return bytes;
  }
  std::string shown() const { return vt::screen_as(person_, vt::Format::Text); }

  ScreenPainter painter_;
  vt::Screen person_{size(20, 5)};
};

TEST_F(Painted, TheScreenAndALineOfOurs) {
  person_.feed(ScreenPainter::enter());
  painter_.reset(20, 4, "one\r\n\033[31mtwo\033[0m");
  paint();
  EXPECT_EQ(shown(), "one\ntwo\n\n\nstatus\n");
  EXPECT_EQ(person_.cursor(), (vt::Cursor{1, 3, false}));
  painter_.feed("\r\nthree\033[1;1HO");
  const std::string bytes = paint();
  EXPECT_EQ(shown(), "One\ntwo\nthree\n\nstatus\n");
  EXPECT_THAT(bytes, Not(HasSubstr("two")));  // only what changed
}

TEST_F(Painted, WhatIsTooLargeIsCutAroundTheCursor) {
  painter_.reset(30, 10, "1\r\n2\r\n3\r\n4\r\n5\r\n6\r\n7 abcdefghijklmnopqrstuvw");
  paint();
  EXPECT_EQ(shown(), "4\n5\n6\n7 abcdefghijklmnopqr\nstatus\n");
}

TEST_F(Painted, QuestionsAndOtherSequencesStayOut) {
  painter_.reset(20, 4, "");
  painter_.feed("\033[c\033[6n\033]52;c;aGk=\007\033[?1049h\033[?3h\033Pq\033\\x");
  paint();
  EXPECT_EQ(person_.take_replies(), "");
  EXPECT_THAT(person_.take_events(), ::testing::IsEmpty());
}

TEST_F(Painted, ModesOfTheKeyboardAreMirroredAndTakenBack) {
  person_.feed(ScreenPainter::enter());
  painter_.reset(20, 4, "\033[?2004h\033[?1h\033[?1002h\033[?1006h");
  paint();
  EXPECT_TRUE(person_.modes().has(vt::Mode::BracketedPaste));
  EXPECT_TRUE(person_.modes().has(vt::Mode::MouseDrag));
  EXPECT_TRUE(person_.keyboard().application_cursor_keys);
  painter_.feed("\033[?1002l\033[?1000h");
  paint();
  EXPECT_TRUE(person_.modes().has(vt::Mode::MousePress));
  EXPECT_FALSE(person_.modes().has(vt::Mode::MouseDrag));
  painter_.feed("\033[>1u\033[?25l");
  paint();
  EXPECT_EQ(person_.keyboard().kitty_flags, 1);
  EXPECT_FALSE(person_.cursor_visible());
  person_.feed(ScreenPainter::leave());
  auto left = person_.modes();
  left.assign(vt::Mode::CursorBlink, false);  // the person's own default shape, whatever that is
  EXPECT_EQ(left, vt::Screen(size(20, 5)).modes());
  EXPECT_EQ(person_.keyboard().kitty_flags, 0);
  EXPECT_FALSE(person_.is_alternate());
}

TEST_F(Painted, WideCharactersAtTheEdge) {
  painter_.reset(20, 4, "日本語日本語日本語日本\r\n\033[41mé\033[0m日\033[32mx");
  paint();
  EXPECT_EQ(shown(), "日本語日本語日本語日\n本\né日x\n\nstatus\n");
  painter_.feed("\033[2J");
  paint();
  EXPECT_EQ(shown(), "\n\n\n\nstatus\n");
}

TEST_F(Painted, AnotherSizeDrawsEverything) {
  painter_.reset(20, 4, "text");
  paint();
  person_.resize(10, 3);
  painter_.reset(10, 2, "other");
  paint();
  EXPECT_EQ(shown(), "other\n\nstatus\n");
}

TEST_F(Painted, TheBellRings) {
  painter_.reset(20, 4, "");
  painter_.feed("\a");
  EXPECT_EQ(paint().find('\a') != std::string::npos, true);
  EXPECT_EQ(paint().find('\a') != std::string::npos, false);
}

boost::json::object terminals(int count) {
  boost::json::array all;
  for (int i = 0; i < count; ++i) {
    all.push_back(boost::json::object{{"id", "t" + std::string(12, static_cast<char>('a' + i))},
                                      {"name", "name" + std::to_string(i)},
                                      {"owner", "user"},
                                      {"state", i == 0 ? "busy" : "idle"},
                                      {"cwd", "/a/very/long/folder/name/that/does/not/fit"},
                                      {"created_at", 0}});
  }
  return {{"terminals", std::move(all)}};
}

TEST(TopView, FitsWhateverSizeThereIs) {
  TopView view;
  view.set_terminals(terminals(12));
  view.set_preview("taaaaaaaaaaaa", "line one\nline two\n\n");
  for (const int cols : {1, 5, 40, 200}) {
    for (const int rows : {1, 2, 3, 4, 10, 24, 60}) {
      const auto lines = view.rows(cols, rows, 1000);
      ASSERT_EQ(lines.size(), static_cast<size_t>(rows));
      for (const std::string& line : lines)
        EXPECT_LE(shown_width(line), static_cast<size_t>(cols) + (cols < 8 ? 8 : 0));
    }
  }
}

TEST(TopView, TheSelectionStaysWithItsTerminal) {
  TopView view;
  EXPECT_EQ(view.selected(), nullptr);
  view.set_terminals(terminals(3));
  view.move(1);
  EXPECT_EQ(view.selected_name(), "name1");
  auto fewer = terminals(3);
  fewer.at("terminals").as_array().erase(fewer.at("terminals").as_array().begin());
  view.set_terminals(fewer);
  EXPECT_EQ(view.selected_name(), "name1");
  view.move(100);
  EXPECT_EQ(view.selected_name(), "name2");
  view.set_terminals(terminals(1));
  EXPECT_EQ(view.selected_name(), "name0");
  view.set_terminals(terminals(0));
  EXPECT_EQ(view.selected(), nullptr);
}

TEST(TopView, ShowsThePreviewOfTheSelectedOnly) {
  TopView view;
  view.set_terminals(terminals(2));
  view.set_preview("taaaaaaaaaaaa", "hello there\n");
  EXPECT_THAT(view.paint(80, 24, 0), HasSubstr("hello there"));
  view.move(1);
  EXPECT_THAT(view.paint(80, 24, 0), Not(HasSubstr("hello there")));
}

}  // namespace
}  // namespace ttyward::cli
