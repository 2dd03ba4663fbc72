#include "shell/command_tracker.h"

#include <gtest/gtest.h>

#include "vt/screen.h"

namespace ttyward::shell {
namespace {

constexpr char kSecret[] = "5eed";

// Marks as a shell prints them, through the screen that reads them.
class Tracked : public ::testing::Test {
 protected:
  Tracked() : tracker_(TrackerOptions{kSecret, Quality::Rich, "/start", false, ShellKind::Bash}) {}

  void print(std::string_view bytes) {
    screen_.feed(bytes);
    for (const vt::Event& event : screen_.take_events())
      if (const auto* mark = std::get_if<vt::ShellMark>(&event)) tracker_.mark(*mark);
    collect();
  }
  // A mark of our shell, which begins each command with the nonce it was given for it.
  void own(const std::string& body) {
    const bool begins = (body == "C" || body.starts_with("E;")) &&
                        tracker_.state() != CommandTracker::State::Executing && !begun_;
    const std::string nonce = begins ? tracker_.next_nonce() : tracker_.nonce();
    begun_ = body == "C" || body.starts_with("E;") || (begun_ && !body.starts_with("D"));
    own(body, nonce);
  }
  void own(const std::string& body, const std::string& nonce) {
    print("\x1b]633;" + body + ";" + nonce + "\a");
  }
  void foreign(const std::string& body) { print("\x1b]" + body + "\a"); }
  void prompt() {
    own("A");
    print("$ ");
    own("B");
  }
  void submit(SubmissionId id, const std::string& text) {
    tracker_.submitted({id, text, text, screen_.bytes_fed(), ""});
  }
  void collect() {
    for (TrackerEvent& event : tracker_.take_events()) events_.push_back(std::move(event));
  }
  template <typename Event>
  std::vector<Event> all() const {
    std::vector<Event> found;
    for (const TrackerEvent& event : events_)
      if (const auto* one = std::get_if<Event>(&event)) found.push_back(*one);
    return found;
  }

  vt::Screen screen_;
  CommandTracker tracker_;
  std::vector<TrackerEvent> events_;
  bool begun_ = false;
};

TEST_F(Tracked, one_command_from_start_to_end) {
  EXPECT_FALSE(tracker_.ready());
  prompt();
  EXPECT_TRUE(tracker_.ready());
  submit(7, "make | tee log");
  EXPECT_FALSE(tracker_.ready());
  print("make | tee log\r\n");
  own("E;make | tee log");
  own("C");
  const uint64_t begin = screen_.bytes_fed();
  print("done\r\n");
  const uint64_t end = screen_.bytes_fed();
  own("D;2;2|0;1");
  own("P;Cwd=/tmp/a\\x3bb");
  prompt();

  CommandFinished wanted;
  wanted.submission = 7;
  wanted.command_line = "make | tee log";
  wanted.exit_code = 2;
  wanted.pipeline = {2, 0};
  wanted.output = {begin, end};
  wanted.cwd = "/start";
  wanted.known_by = KnownBy::ShellMark;
  wanted.trusted = true;
  const std::vector<TrackerEvent> expected = {
      QualityChanged{Quality::None, Quality::Rich, "the shell's first mark"},
      std::get<PromptReady>(events_[1]),
      CommandStarted{7, "make | tee log", "/start", begin},
      wanted,
      CwdChanged{"/tmp/a;b"},
      PromptReady{screen_.bytes_fed()}};
  EXPECT_EQ(events_, expected);
  EXPECT_EQ(tracker_.cwd(), "/tmp/a;b");
  EXPECT_EQ(tracker_.last_command(), "make | tee log");
}

TEST_F(Tracked, several_starts_before_one_end_are_one_submission) {
  prompt();
  submit(1, "echo a\nfalse");
  own("C");
  print("a\r\n");
  own("C");
  own("D;1;1;2");
  ASSERT_EQ(all<CommandStarted>().size(), 1u);
  ASSERT_EQ(all<CommandFinished>().size(), 1u);
  EXPECT_EQ(all<CommandFinished>()[0].exit_code, 1);
}

TEST_F(Tracked, an_end_without_a_start_is_no_command) {
  prompt();
  own("D;130;130;0");
  prompt();
  own("D;0;0;0");
  prompt();
  EXPECT_TRUE(all<CommandFinished>().empty());
  EXPECT_EQ(all<PromptReady>().size(), 3u);
}

TEST_F(Tracked, the_late_prompt_of_an_interrupt_is_not_the_end_of_what_was_sent_after_it) {
  prompt();
  tracker_.interrupted();
  tracker_.interrupted();
  own("D;130;130;0");
  prompt();
  submit(1, "false");
  own("D;130;130;0");
  own("A");
  own("B");
  EXPECT_TRUE(all<CommandFinished>().empty());
  EXPECT_FALSE(tracker_.ready());
  EXPECT_TRUE(tracker_.passed_over());
  tracker_.sent_again();
  EXPECT_FALSE(tracker_.passed_over());
  own("C");
  own("D;1;1;0");
  ASSERT_EQ(all<CommandFinished>().size(), 1u);
  EXPECT_TRUE(all<CommandFinished>()[0].executed);
  EXPECT_EQ(all<CommandFinished>()[0].exit_code, 1);
}

TEST_F(Tracked, an_interrupt_after_what_was_sent_may_be_its_end) {
  prompt();
  tracker_.interrupted();
  submit(1, "false");
  tracker_.typed("\x03", screen_.bytes_fed());
  own("D;130;130;0");
  ASSERT_EQ(all<CommandFinished>().size(), 1u);
  EXPECT_FALSE(all<CommandFinished>()[0].executed);
}

TEST_F(Tracked, a_submission_the_shell_refused) {
  prompt();
  submit(1, "echo )");
  print("syntax error\r\n");
  own("D;2;2;0");
  ASSERT_EQ(all<CommandFinished>().size(), 1u);
  EXPECT_FALSE(all<CommandFinished>()[0].executed);
  EXPECT_TRUE(all<CommandFinished>()[0].output_has_echo);
  EXPECT_EQ(all<CommandFinished>()[0].exit_code, 2);
}

TEST_F(Tracked, a_submission_that_never_began_has_no_status) {
  prompt();
  submit(1, "true");
  own("D;0;0;0");
  ASSERT_EQ(all<CommandFinished>().size(), 1u);
  EXPECT_EQ(all<CommandFinished>()[0].exit_code, std::nullopt);
  EXPECT_TRUE(all<CommandFinished>()[0].pipeline.empty());
  tracker_ = CommandTracker(TrackerOptions{kSecret, Quality::Basic, "/start", false, ShellKind::Dash});
  prompt();
  submit(2, "true");
  own("D;7;;");
  ASSERT_EQ(all<CommandFinished>().size(), 2u);
  EXPECT_FALSE(all<CommandFinished>()[1].executed);
  EXPECT_EQ(all<CommandFinished>()[1].exit_code, std::nullopt);
}

TEST_F(Tracked, parts_of_a_pipeline_are_those_of_the_command) {
  const auto parts = [&](const std::string& text, const std::string& mark) {
    prompt();
    submit(1, text);
    own("C");
    own(mark);
    return all<CommandFinished>().back().pipeline;
  };
  tracker_ = CommandTracker(TrackerOptions{kSecret, Quality::Rich, "/start", false, ShellKind::Zsh});
  EXPECT_EQ(parts("false | true", "D;0;1|0;1"), (std::vector<int>{1, 0}));
  EXPECT_EQ(parts("x=1", "D;0;1|0;1"), std::vector<int>());
  EXPECT_EQ(parts("y=1", "D;0;7;1"), std::vector<int>());
  EXPECT_EQ(parts("true", "D;0;0;1"), std::vector<int>{0});
}

TEST_F(Tracked, a_prompt_without_an_end_closes_with_unknown_status) {
  prompt();
  submit(1, "x");
  own("C");
  own("A");
  ASSERT_EQ(all<CommandFinished>().size(), 1u);
  EXPECT_EQ(all<CommandFinished>()[0].exit_code, std::nullopt);
  EXPECT_EQ(all<CommandFinished>()[0].known_by, KnownBy::Nothing);
}

TEST_F(Tracked, marks_without_the_nonce_are_ignored) {
  foreign("133;A");  // before our shell's first mark, too
  prompt();
  submit(1, "cat evil");
  own("C");
  foreign("633;D;0");
  foreign("633;D;0;;1;wrong");
  foreign("133;D;0");
  foreign("133;A");
  foreign("633;P;Cwd=/etc");
  foreign("633;E;rm -rf /;wrong");
  EXPECT_TRUE(all<CommandFinished>().empty());
  EXPECT_EQ(tracker_.foreign_marks(), 7u);
  EXPECT_EQ(tracker_.cwd(), "/start");
  own("D;3;3;1");
  ASSERT_EQ(all<CommandFinished>().size(), 1u);
  EXPECT_EQ(all<CommandFinished>()[0].exit_code, 3);
  EXPECT_EQ(all<CommandFinished>()[0].command_line, "cat evil");
}

TEST_F(Tracked, of_what_is_typed_only_what_the_shell_does_not_tell_is_remembered) {
  prompt();
  EXPECT_EQ(tracker_.needed_of("ls -l"), "*") << "that a line was begun";
  EXPECT_EQ(tracker_.needed_of("ls\rhunter2\r"), "*\r");
  EXPECT_EQ(tracker_.needed_of("\r"), "\r");
  submit(1, "sudo x");
  EXPECT_EQ(tracker_.needed_of("hunter2\r"), "");
  EXPECT_EQ(tracker_.needed_of("hunter2\x03"), "\x03");
  own("E;sudo x");
  own("C");
  EXPECT_EQ(tracker_.needed_of("hunter2\r"), "") << "a program reads that";
}

TEST_F(Tracked, a_line_typed_before_ours_is_not_ours) {
  prompt();
  submit(1, "echo mine");
  own("E;ls");
  own("C");
  own("D;1;1;1");
  prompt();
  EXPECT_FALSE(tracker_.ready()) << "ours is still on its way";
  own("E; echo mine");
  own("C");
  own("D;0;0;1");
  const auto finished = all<CommandFinished>();
  ASSERT_EQ(finished.size(), 2u);
  EXPECT_EQ(finished[0].submission, std::nullopt);
  EXPECT_EQ(finished[0].command_line, "ls");
  EXPECT_EQ(finished[1].submission, 1u);
}

TEST_F(Tracked, incomplete_input_is_reported_once_and_has_no_status) {
  prompt();
  submit(4, "echo 'a");
  own("F");
  own("G");
  own("F");
  EXPECT_EQ(all<IncompleteInput>(), std::vector<IncompleteInput>{IncompleteInput{4}});
  own("D;130;130;0");
  ASSERT_EQ(all<CommandFinished>().size(), 1u);
  EXPECT_TRUE(all<CommandFinished>()[0].incomplete);
  EXPECT_EQ(all<CommandFinished>()[0].exit_code, std::nullopt);
}

TEST_F(Tracked, the_shells_own_end_is_the_commands) {
  prompt();
  submit(1, "exit 3");
  own("C");
  tracker_.shell_gone(3, std::nullopt, 100);
  collect();
  ASSERT_EQ(all<CommandFinished>().size(), 1u);
  EXPECT_EQ(all<CommandFinished>()[0].exit_code, 3);
  EXPECT_EQ(all<CommandFinished>()[0].known_by, KnownBy::Wait);
  EXPECT_TRUE(all<CommandFinished>()[0].shell_gone);
  EXPECT_EQ(tracker_.state(), CommandTracker::State::Gone);
}

TEST_F(Tracked, hooks_that_vanish) {
  prompt();
  submit(1, "exec bash --norc");
  own("C");
  tracker_.prompt_seen_unmarked(500, "exec", false);
  collect();
  ASSERT_EQ(all<CommandFinished>().size(), 1u);
  EXPECT_EQ(all<CommandFinished>()[0].exit_code, std::nullopt);
  EXPECT_EQ(tracker_.quality(), Quality::None);
  // Whatever comes now may speak, at its own worth.
  foreign("133;A");
  foreign("133;B");
  foreign("133;C");
  foreign("133;D;4");
  ASSERT_EQ(all<CommandFinished>().size(), 2u);
  EXPECT_EQ(all<CommandFinished>()[1].exit_code, 4);
  EXPECT_FALSE(all<CommandFinished>()[1].trusted);
  EXPECT_EQ(tracker_.quality(), Quality::Basic);
}

TEST_F(Tracked, foreign_marks_count_after_the_timeout) {
  tracker_.integration_timed_out();
  foreign("133;A");
  foreign("133;B");
  EXPECT_TRUE(tracker_.ready());
  EXPECT_EQ(all<IntegrationTimedOut>().size(), 1u);
  EXPECT_EQ(tracker_.quality(), Quality::Basic);
  // A full-screen program shows somebody's marks: they are nobody's.
  print("\x1b[?1049h");
  foreign("133;C");
  EXPECT_TRUE(all<CommandStarted>().empty());
}

TEST_F(Tracked, an_end_on_the_alternate_screen_counts_and_says_so) {
  prompt();
  submit(1, "vim");
  own("C");
  print("\x1b[?1049h");
  own("D;137;137;1");
  ASSERT_EQ(all<CommandFinished>().size(), 1u);
  EXPECT_TRUE(all<CommandFinished>()[0].left_alternate);
}

TEST_F(Tracked, a_sentinel_inside_a_running_command) {
  prompt();
  submit(1, "ssh host");
  own("C");
  tracker_.submitted({2, "uptime", "", screen_.bytes_fed(), "inner"});
  foreign("633;C;inner");
  foreign("633;D;9;;1;inner");
  foreign("633;D;0;;1;inner");
  tracker_.submitted({3, "reboot", "", screen_.bytes_fed(), "second"});
  foreign("633;C;second");
  own("D;255;255;1");
  const auto finished = all<CommandFinished>();
  ASSERT_EQ(finished.size(), 3u);
  EXPECT_EQ(finished[0].submission, 2u);
  EXPECT_EQ(finished[0].exit_code, 9);
  EXPECT_EQ(finished[0].known_by, KnownBy::Sentinel);
  EXPECT_EQ(finished[1].submission, 3u);
  EXPECT_EQ(finished[1].exit_code, std::nullopt);
  EXPECT_EQ(finished[2].submission, 1u);
  EXPECT_EQ(finished[2].exit_code, 255);
}

TEST_F(Tracked, environment_reports) {
  prompt();
  own("EnvSingleStart;0");
  own("EnvSingleEntry;A;x\\x3by");
  own("EnvSingleHidden;API_KEY");
  own("EnvSingleDelete;B");
  foreign("633;EnvSingleEntry;EVIL;1;wrong");
  own("EnvSingleEnd");
  const EnvironmentChanged wanted{
      {{"A", "x;y", false}, {"API_KEY", std::nullopt, true}, {"B", std::nullopt, false}}};
  EXPECT_EQ(all<EnvironmentChanged>(), std::vector<EnvironmentChanged>{wanted});
}

TEST_F(Tracked, a_nonce_is_good_for_one_command) {
  prompt();
  submit(1, "one");
  own("C");
  const std::string leaked = tracker_.nonce();
  own("D;0;0;1");
  prompt();
  submit(2, "two");
  own("C");
  ASSERT_NE(tracker_.nonce(), leaked);
  own("D;0;;1", leaked);
  own("P;Cwd=/elsewhere", leaked);
  own("B", leaked);
  EXPECT_EQ(all<CommandFinished>().size(), 1u);
  EXPECT_EQ(tracker_.state(), CommandTracker::State::Executing);
  EXPECT_EQ(tracker_.foreign_marks(), 3u);
  own("D;5;5;1");
  ASSERT_EQ(all<CommandFinished>().size(), 2u);
  EXPECT_EQ(all<CommandFinished>()[1].exit_code, 5);
}

// dash: the function that fetches the text prints the start mark, and takes the nonce after that.
TEST_F(Tracked, a_shell_without_hooks_that_was_interrupted_before_it_took_the_nonce) {
  tracker_ = CommandTracker(TrackerOptions{kSecret, Quality::Basic, "/start", false, ShellKind::Dash});
  prompt();
  const std::string before = tracker_.nonce();
  submit(7, "sleep 3");
  own("C", tracker_.next_nonce());
  own("D;0;;", before);  // no shell that ran it says this with the old nonce
  EXPECT_TRUE(all<CommandFinished>().empty());
  own("P;Cwd=/start", before);
  own("D;130;;", before);
  own("A", before);
  own("B", before);
  const auto ended = all<CommandFinished>();
  ASSERT_EQ(ended.size(), 1u);
  EXPECT_EQ(ended[0].submission, 7u);
  EXPECT_EQ(ended[0].exit_code, 130);
  EXPECT_TRUE(tracker_.ready());
  // The next command begins with a nonce that was never used.
  submit(8, "true");
  own("C", tracker_.next_nonce());
  own("D;0;;");
  EXPECT_EQ(all<CommandFinished>().size(), 2u);
  // Hooks take the nonce first: for them the old one stays worthless.
  tracker_ = CommandTracker(TrackerOptions{kSecret, Quality::Rich, "/start", false, ShellKind::Bash});
  prompt();
  const std::string worthless = tracker_.nonce();
  submit(9, "sleep 3");
  own("C", tracker_.next_nonce());
  own("D;130;;", worthless);
  EXPECT_EQ(all<CommandFinished>().size(), 2u);
}

TEST_F(Tracked, a_quiet_nonce_is_good_for_a_quiet_command_only) {
  prompt();
  submit(1, "export A=1");
  const std::string first = tracker_.next_nonce();
  own("C", first + "q");
  EXPECT_TRUE(all<CommandStarted>().empty());
  own("C", first);
  own("D;0;0;1", first + "q");
  EXPECT_TRUE(all<CommandFinished>().empty());
  own("D;0;0;1", first);
  EXPECT_EQ(all<CommandFinished>().size(), 1U);
  prompt();
  tracker_.submitted({2, "ls", "ls", screen_.bytes_fed(), "", true});
  const std::string quiet = tracker_.quiet_nonce();
  own("C", quiet);
  own("D;3;3;1", quiet);
  own("A", quiet);
  own("B", quiet);
  ASSERT_EQ(all<CommandFinished>().size(), 2U);
  EXPECT_EQ(all<CommandFinished>()[1].exit_code, 3);
  EXPECT_TRUE(tracker_.ready());
  // A shell that was not told in time used the ordinary one.
  tracker_.submitted({3, "ls", "ls", screen_.bytes_fed(), "", true});
  const std::string ordinary = tracker_.next_nonce();
  own("C", ordinary);
  own("D;0;0;1", ordinary);
  EXPECT_EQ(all<CommandFinished>().size(), 3U);
}

TEST_F(Tracked, a_command_begun_before_its_nonce_was_there_is_followed) {
  prompt();
  own("C", tracker_.nonce());
  own("D;2;2;1", tracker_.nonce());
  ASSERT_EQ(all<CommandFinished>().size(), 1u);
  EXPECT_EQ(all<CommandFinished>()[0].exit_code, 2);
}

TEST_F(Tracked, a_shell_inside_is_integrated_and_ends) {
  prompt();
  submit(1, "zsh");
  own("C");
  const std::string outer = tracker_.nonce();
  tracker_.prompt_seen_unmarked(screen_.bytes_fed(), "zsh reads", true);
  collect();
  ASSERT_EQ(all<CommandFinished>().size(), 1u);
  EXPECT_EQ(all<CommandFinished>()[0].exit_code, std::nullopt);
  EXPECT_EQ(tracker_.quality(), Quality::None);
  tracker_.integrate(ShellKind::Zsh, Quality::Rich);
  begun_ = false;
  prompt();
  EXPECT_EQ(tracker_.quality(), Quality::Rich);
  EXPECT_EQ(tracker_.kind(), ShellKind::Zsh);
  submit(2, "exit 3");
  own("C");
  // The shell that started it goes on.
  own("D;3;3;1", outer);
  ASSERT_EQ(all<CommandFinished>().size(), 2u);
  EXPECT_EQ(all<CommandFinished>()[1].exit_code, 3);
  EXPECT_EQ(all<ShellReturned>().size(), 1u);
  EXPECT_EQ(tracker_.kind(), ShellKind::Bash);
  begun_ = false;
  prompt();
  submit(3, "echo");
  own("C");
  own("D;0;0;1");
  EXPECT_EQ(all<CommandFinished>().size(), 3u);
}

TEST_F(Tracked, a_sentinel_in_a_shell_that_ends_with_it) {
  prompt();
  submit(1, "su nobody");
  own("C");
  const std::string outer = tracker_.nonce();
  tracker_.prompt_seen_unmarked(screen_.bytes_fed(), "bash reads", true);
  tracker_.submitted({2, "exit 6", "", screen_.bytes_fed(), "inner"});
  foreign("633;C;inner");
  print("exit\r\n");
  own("D;6;6;1", outer);
  const auto finished = all<CommandFinished>();
  ASSERT_EQ(finished.size(), 2u);
  EXPECT_EQ(finished[1].submission, 2u);
  EXPECT_EQ(finished[1].exit_code, 6);
  EXPECT_TRUE(finished[1].shell_gone);
  EXPECT_EQ(all<ShellReturned>().size(), 1u);
}

TEST_F(Tracked, hooks_that_vanished_are_put_back) {
  prompt();
  submit(1, "PROMPT_COMMAND=");
  own("C");
  const std::string before = tracker_.nonce();
  tracker_.prompt_seen_unmarked(screen_.bytes_fed(), "no marks", false);
  tracker_.integrate(ShellKind::Bash, Quality::Rich);
  own("B", before);  // of the old PS1: it proves nothing any more
  EXPECT_EQ(tracker_.quality(), Quality::None);
  begun_ = false;
  prompt();
  EXPECT_EQ(tracker_.quality(), Quality::Rich);
}

TEST_F(Tracked, how_the_shell_reads_a_line) {
  EXPECT_FALSE(tracker_.reading().known);
  print("\x1b]633;Reading;ls rm;evil;extglob;1;C;0;0000\a");
  EXPECT_FALSE(tracker_.reading().known);
  own("Reading;ll la ;foo x\\x3by bar ;posix extglob;1;de_DE.ISO-8859-1;0");
  const ReadingState& reading = tracker_.reading();
  EXPECT_TRUE(reading.known);
  EXPECT_EQ(reading.kind, ShellKind::Bash);
  EXPECT_EQ(reading.aliases, (std::vector<std::string>{"la", "ll"}));
  EXPECT_EQ(reading.functions, (std::vector<std::string>{"bar", "foo", "x;y"}));
  EXPECT_TRUE(reading.has_option("extglob"));
  EXPECT_FALSE(reading.has_option("expand_aliases"));
  EXPECT_TRUE(reading.ifs_is_default);
  EXPECT_FALSE(reading.locale_is_plain());
  EXPECT_FALSE(reading.truncated);
  own("Reading;;;;0;C.UTF-8;1");
  EXPECT_FALSE(reading.ifs_is_default);
  EXPECT_TRUE(reading.locale_is_plain());
  EXPECT_TRUE(reading.truncated);
}

TEST_F(Tracked, marks_that_are_lost_do_not_stop_the_row_of_nonces) {
  CommandTracker other(TrackerOptions{kSecret, Quality::Rich, "/start", false, ShellKind::Bash});
  other.nonces_used_at_least(7);
  tracker_.nonces_used_at_least(7);
  tracker_.nonces_used_at_least(3);
  EXPECT_EQ(tracker_.nonces_used(), 7u);
  EXPECT_EQ(tracker_.next_nonce(), other.next_nonce());
  prompt();
  submit(1, "true");
  own("C");
  own("D;0;0;1");
  EXPECT_EQ(all<CommandFinished>().size(), 1u);
}

}  // namespace
}  // namespace ttyward::shell
