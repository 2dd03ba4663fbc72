// The parts of full-screen views that are values: tables, keys, painting.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <memory>
#include <random>

#include "app/screen_object.h"
#include "cli/detach_key.h"
#include "cli/notify.h"
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
  // Another program's screen, and what it prints.
  void reset(int cols, int rows, std::string_view ansi) {
    program_ = std::make_unique<vt::Screen>(size(cols, rows));
    seen_ = 0;
    feed(ansi);
  }
  void feed(std::string_view ansi) {
    program_->feed(ansi);
    const vt::Delta delta = vt::changes_since(*program_, seen_);
    seen_ = delta.seq;
    painter_.apply(app::screen_object(delta));
  }

  ScreenPainter painter_;
  std::unique_ptr<vt::Screen> program_;
  vt::Seq seen_ = 0;
  vt::Screen person_{size(20, 5)};
};

TEST_F(Painted, TheScreenAndALineOfOurs) {
  person_.feed(ScreenPainter::enter());
  reset(20, 4, "one\r\n\033[31mtwo\033[0m");
  paint();
  EXPECT_EQ(shown(), "one\ntwo\n\n\nstatus\n");
  EXPECT_EQ(person_.cursor(), (vt::Cursor{1, 3, false}));
  feed("\r\nthree\033[1;1HO");
  const std::string bytes = paint();
  EXPECT_EQ(shown(), "One\ntwo\nthree\n\nstatus\n");
  EXPECT_THAT(bytes, Not(HasSubstr("two")));  // only what changed
}

TEST_F(Painted, WhatIsTooLargeIsCutAroundTheCursor) {
  reset(30, 10, "1\r\n2\r\n3\r\n4\r\n5\r\n6\r\n7 abcdefghijklmnopqrstuvw");
  paint();
  EXPECT_EQ(shown(), "\n\n\nefghijklmnopqrstuvw\nstatus\n");
}

// Everything that can be on a screen arrives, whenever somebody looks.
TEST_F(Painted, WhatIsPaintedIsWhatIsThere) {
  person_.resize(40, 11);
  person_.feed(ScreenPainter::enter());
  reset(40, 10, "");
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
      "\033[?2026h",
      "\033[?2026l",
      "👩‍👩‍👧",
      "\033]8;;http://example.org\033\\link\033]8;;\033\\",
      "\033[0m",
      "long line that wraps around the edge of the window, twice if need be, and then some more of it"};
  for (int step = 0; step < 3000; step++) {
    program_->feed(pieces[random() % pieces.size()]);
    if (random() % 3 != 0) continue;
    feed("");
    paint();
    for (int row = 0; row < 10; row++) {
      vt::Line want = program_->line(row);
      vt::Line got = person_.line(row);
      for (vt::Span& span : want.spans) span.style.link = 0;
      want.trim();
      got.trim();
      ASSERT_EQ(want.text, got.text) << "step " << step << " row " << row;
    }
    ASSERT_EQ(program_->cursor_visible(), person_.cursor_visible()) << step;
    if (!program_->cursor_visible()) continue;
    ASSERT_EQ(program_->cursor().row, person_.cursor().row) << step;
    ASSERT_EQ(program_->cursor().col, person_.cursor().col) << step;
  }
}

TEST_F(Painted, QuestionsAndOtherSequencesStayOut) {
  reset(20, 4, "");
  feed("\033[c\033[6n\033]52;c;aGk=\007\033[?1049h\033[?3h\033Pq\033\\x");
  paint();
  EXPECT_EQ(person_.take_replies(), "");
  EXPECT_THAT(person_.take_events(), ::testing::IsEmpty());
}

TEST_F(Painted, ModesOfTheKeyboardAreMirroredAndTakenBack) {
  person_.feed(ScreenPainter::enter());
  reset(20, 4, "\033[?2004h\033[?1h\033[?1002h\033[?1006h");
  paint();
  EXPECT_TRUE(person_.modes().has(vt::Mode::BracketedPaste));
  EXPECT_TRUE(person_.modes().has(vt::Mode::MouseDrag));
  EXPECT_TRUE(person_.keyboard().application_cursor_keys);
  feed("\033[?1002l\033[?1000h");
  paint();
  EXPECT_TRUE(person_.modes().has(vt::Mode::MousePress));
  EXPECT_FALSE(person_.modes().has(vt::Mode::MouseDrag));
  feed("\033[>1u\033[?25l");
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
  reset(20, 4, "日本語日本語日本語日本\r\n\033[41mé\033[0m日\033[32mx");
  paint();
  EXPECT_EQ(shown(), "日本語日本語日本語日\n本\né日x\n\nstatus\n");
  feed("\033[2J");
  paint();
  EXPECT_EQ(shown(), "\n\n\n\nstatus\n");
}

TEST_F(Painted, AnotherSizeDrawsEverything) {
  reset(20, 4, "text");
  paint();
  person_.resize(10, 3);
  reset(10, 2, "other");
  paint();
  EXPECT_EQ(shown(), "other\n\nstatus\n");
}

std::vector<wire::Terminal> terminals(int count) {
  std::vector<wire::Terminal> all;
  for (int i = 0; i < count; ++i) {
    wire::Terminal& each = all.emplace_back();
    each.id = "t" + std::string(12, static_cast<char>('a' + i));
    each.name = "name" + std::to_string(i);
    each.owner = "user";
    each.state = i == 0 ? "busy" : "idle";
    each.cwd = "/a/very/long/folder/name/that/does/not/fit";
    each.created_at.ms = 1;
  }
  return all;
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
  fewer.erase(fewer.begin());
  view.set_terminals(fewer);
  EXPECT_EQ(view.selected_name(), "name1");
  view.move(100);
  EXPECT_EQ(view.selected_name(), "name2");
  view.set_terminals(terminals(1));
  EXPECT_EQ(view.selected_name(), "name0");
  view.set_terminals(terminals(0));
  EXPECT_EQ(view.selected(), nullptr);
}

TEST(TopView, QuestionsComeFirst) {
  TopView view;
  view.set_terminals(terminals(2));
  wire::Approval question;
  question.id = "aone";
  question.shown = "rm -rf build";
  question.cwd = "/p";
  question.asked_by = "claude";
  question.expires_at = wire::Time{5000};
  question.verdict.json = R"({"risk":"high"})";
  EXPECT_TRUE(view.set_approvals({question}));
  EXPECT_FALSE(view.set_approvals({question}));  // nothing new
  const auto rows = view.rows(100, 24, 1000);
  EXPECT_THAT(rows[0], HasSubstr("1 question waits for your answer (a), 2 terminals"));
  EXPECT_THAT(rows[1], HasSubstr("APPROVAL"));
  EXPECT_THAT(rows[2], HasSubstr("rm -rf build"));
  EXPECT_THAT(rows[2], HasSubstr("4s"));
  EXPECT_THAT(rows[3], HasSubstr("NAME"));
  EXPECT_FALSE(view.set_approvals({}));
  EXPECT_THAT(view.rows(100, 24, 1000)[1], HasSubstr("NAME"));
}

TEST(TopView, ManyQuestionsLeaveRoomForTerminals) {
  TopView view;
  view.set_terminals(terminals(3));
  std::vector<wire::Approval> all(30);
  for (int i = 0; i < 30; ++i) all[static_cast<size_t>(i)].id = std::to_string(i);
  view.set_approvals(all);
  const std::string shown = view.paint(80, 24, 0);
  EXPECT_THAT(shown, HasSubstr("and 25 more"));
  EXPECT_THAT(shown, HasSubstr("name2"));
}

TEST(TopView, TheFilterLooksEverywhereInAnyCase) {
  TopView view;
  view.set_terminals(terminals(3));
  view.move(2);
  view.set_filter("NAME2");
  EXPECT_EQ(view.selected_name(), "name2");
  const auto rows = view.rows(100, 24, 1000);
  EXPECT_THAT(rows[0], HasSubstr("3 terminals, 1 busy, 0 waiting for input, 1 shown with 'NAME2'"));
  view.set_filter("busy");
  EXPECT_EQ(view.selected_name(), "name0");
  view.set_filter("nowhere");
  EXPECT_EQ(view.selected(), nullptr);
  EXPECT_THAT(view.paint(100, 24, 0), HasSubstr("no terminal matches"));
  view.set_filter("");
  EXPECT_EQ(view.selected_name(), "name0");
}

TEST(TopView, HelpTakesThePlaceOfThePreview) {
  TopView view;
  view.set_terminals(terminals(1));
  view.set_preview("taaaaaaaaaaaa", "hello there\n");
  view.set_help(true);
  EXPECT_THAT(view.paint(80, 24, 0), HasSubstr("attach to it"));
  EXPECT_THAT(view.paint(80, 24, 0), Not(HasSubstr("hello there")));
}

TEST(TopView, WhatTerminalsUse) {
  TopView view;
  view.set_terminals(terminals(2));
  EXPECT_THAT(view.rows(120, 24, 0)[1], Not(HasSubstr("PORTS")));
  view.set_uses({{"taaaaaaaaaaaa", {42.4, 10, {3000, 8080}}}});
  const auto rows = view.rows(120, 24, 0);
  EXPECT_THAT(rows[1], HasSubstr("CPU  PORTS"));
  EXPECT_THAT(rows[2], HasSubstr("42%  3000,8080"));
  EXPECT_THAT(rows[3], HasSubstr("-    -"));
}

TEST(TopView, ColoursOnlyWherePaintIsOn) {
  TopView plain;
  TopView coloured{Paint(true)};
  plain.set_terminals(terminals(2));
  coloured.set_terminals(terminals(2));
  coloured.move(1);
  plain.move(1);
  EXPECT_THAT(plain.paint(80, 24, 0), Not(HasSubstr("\033[32m")));
  EXPECT_THAT(coloured.paint(80, 24, 0), HasSubstr("\033[32mbusy"));
  EXPECT_EQ(plain.rows(80, 24, 0), coloured.rows(80, 24, 0));
}

TEST(Table, ColoursAddNoWidth) {
  Table table({{"A"}, {"B", true}});
  table.add({Cell("one", Colour::Red), Cell("a long text", Colour::Green)});
  EXPECT_THAT(table.lines(0, Paint(true)), ElementsAre("\033[1mA  \033[0m  \033[1mB\033[0m",
                                                       "\033[31mone\033[0m  \033[32ma long text\033[0m"));
  EXPECT_THAT(table.lines(10, Paint(true))[1], HasSubstr("\033[32ma lo…\033[0m"));
}

pty::ProcessStat process(pid_t pid, pid_t parent) {
  pty::ProcessStat stat;
  stat.pid = pid;
  stat.parent = parent;
  return stat;
}

TEST(TerminalUse, ATreeIsEverythingBelow) {
  const std::vector<pty::ProcessStat> all = {process(5, 4), process(2, 1), process(3, 2), process(4, 3),
                                             process(9, 1)};
  std::vector<pid_t> pids;
  for (const auto& each : tree_of(2, all)) pids.push_back(each.pid);
  EXPECT_THAT(pids, ElementsAre(2, 3, 4, 5));
  EXPECT_TRUE(tree_of(77, all).empty());
  // A loop, as a scan that is no snapshot may show one, ends.
  EXPECT_EQ(tree_of(2, {process(2, 3), process(3, 2)}).size(), 2U);
}

TEST(TerminalUse, OurOwnProcessorTimeIsSeen) {
  wire::Terminal us;
  us.id = "t";
  us.holder_pid = ::getpid();
  UseMeter meter;
  EXPECT_FALSE(meter.look({us}).at("t").cpu_percent);
  volatile uint64_t sum = 0;
  TerminalUse use;
  do {
    for (int i = 0; i < 20'000'000; ++i) sum = sum + 1;
    use = meter.look({us}).at("t");
  } while (use.cpu_ms == 0);
  EXPECT_TRUE(use.cpu_percent);
  us.holder_pid = 0x3fffffff;
  EXPECT_TRUE(meter.look({us}).empty());
}

TEST(Notify, TheTerminalIsAskedInItsOwnWay) {
  const auto with = [](const char* name, const char* value) {
    return [name, value](const char* asked) { return std::string_view(asked) == name ? value : ""; };
  };
  EXPECT_EQ(notification_sequence(with("TERM", "xterm"), "a;b", "c;d"), "\033]9;a,b: c;d\033\\");
  EXPECT_EQ(notification_sequence(with("TERM", "foot"), "a;b", "c;d"), "\033]777;notify;a,b;c;d\033\\");
  EXPECT_EQ(notification_sequence(with("VTE_VERSION", "7000"), "a", "b"), "\033]777;notify;a;b\033\\");
  // Nothing in the text ends the sequence, and secrets stay out.
  EXPECT_EQ(notification_sequence(with("TERM", "xterm"), "t", "x\033\\\a --token abcdef"),
            "\033]9;t: x^[\\  --token ***\033\\");
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
