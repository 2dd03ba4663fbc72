// Literal logs and journals in, a terminal's state out; cut at every byte.
#include "engine/replay.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <fstream>

#include <boost/json/serialize.hpp>

#include "engine/recorded_terminal.h"
#include "engine/terminal_log.h"

namespace ttyward::engine {
namespace {

using terminal::CommandState;
using testing::mark;
using testing::record;
using testing::RecordedJournals;
using Records = std::vector<boost::json::object>;

constexpr int64_t kNow = 1'700'000'000'000;

// One `echo hi` in a bash, from its first prompt to its second.
struct Story {
  std::string before = mark("A", 0) + "$ " + mark("B", 0);  // the command is sent here
  std::string started = "echo hi\r\n" + mark("E;echo hi", 1) + mark("C", 1);
  std::string output = "hi\r\n";
  std::string ended = mark("D;0", 1);
  std::string prompt = mark("A", 1) + "$ " + mark("B", 1);

  std::string bytes() const { return before + started + output + ended + prompt; }
  uint64_t end_of_output() const { return before.size() + started.size() + output.size(); }
  uint64_t over_at() const { return end_of_output() + ended.size(); }

  std::string spec() const {
    return R"({"k":"spec","version":1,"id":"t1","owner":"agent","cwd":"/start","argv":["/bin/bash"],)"
           R"("cols":80,"rows":24,"provider":"pty","created_at":5,"secret":"5eed","expected":"rich"})";
  }
  std::string submit() const {
    return R"({"k":"submit","c":"caaaaaaaaaaaa","n":1,"by":"agent","text":"echo hi","delivered":"echo hi",)"
           R"("line":"echo hi","file":"","cwd":"/start","sentinel":"","verdict":"","started_at":7,)"
           R"("timeout_ms":0,"idle_timeout_ms":0,"marks":0,"input":0,"at":)" +
           std::to_string(before.size()) + "}";
  }
  std::string finish() const {
    return R"({"k":"finish","c":"caaaaaaaaaaaa","state":"exited","exit_code":0,"known_by":"shell_mark",)"
           R"("signal":"","reason":"","cwd_after":"/there","duration_ms":42,"marks":1,"lines":1,"begin":)" +
           std::to_string(before.size() + started.size()) + R"(,"end":)" + std::to_string(end_of_output()) +
           R"(,"at":)" + std::to_string(over_at()) + "}";
  }
};

class Replaying : public ::testing::Test {
 protected:
  Replayed run(Records records, base::Result<journal::Reader> reader, uint64_t replied_to = 0) {
    ReplayInput input{std::move(records), std::move(reader), replied_to, {}, kNow, {}};
    auto replayed = replay(std::move(input));
    EXPECT_TRUE(replayed) << replayed.error().message;
    return std::move(*replayed);
  }
  static std::string lines_of(Replayed& replayed, Command& command) {
    std::string text;
    replayed.model->output_of(command).as_if_finished([&](const terminal::Transcript& lines) {
      for (uint64_t n = 1; n <= lines.size(); n++) text += lines.line(n).value_or("?") + "\n";
    });
    return text;
  }

  Story story_;
  RecordedJournals journals_;
};

TEST_F(Replaying, a_whole_story_is_told_again) {
  Replayed told = run({record(story_.spec()), record(story_.submit()), record(story_.finish())},
                      journals_.make("t1", story_.bytes()));
  EXPECT_EQ(told.outcome, Replayed::Outcome::Follows);
  EXPECT_EQ(told.birth.created_at_ms, 5);
  EXPECT_TRUE(told.model->ready());
  EXPECT_FALSE(told.model->busy());
  ASSERT_EQ(told.model->book().commands().size(), 1U);
  Command& command = *told.model->book().commands().front();
  EXPECT_EQ(command.facts.command_id, "caaaaaaaaaaaa");
  EXPECT_EQ(command.facts.state, CommandState::Exited);
  EXPECT_EQ(command.facts.exit_code, 0);
  EXPECT_EQ(command.facts.cwd_after, "/there");  // only the log knows
  EXPECT_EQ(command.facts.duration_ms, 42);
  EXPECT_EQ(lines_of(told, command), "hi\n");
}

// The terminal's screen and the command's output each need the last rows of it only.
TEST_F(Replaying, a_flood_in_colours_is_emulated_for_neither_terminal_nor_command) {
  constexpr int kLines = 20'000;
  story_.output.clear();
  for (int i = 0; i < kLines; i++)
    story_.output += "\x1b[1mpart " + std::to_string(i) + ":\x1b[m \x1b[01;31m\x1b[Kerror\x1b[m\x1b[K\r\n";
  Replayed told = run({record(story_.spec()), record(story_.submit())}, journals_.make("t1", story_.bytes()));
  ASSERT_EQ(told.model->book().commands().size(), 1U);
  Command& command = *told.model->book().commands().front();
  EXPECT_EQ(command.facts.total_lines, uint64_t{kLines});
  ASSERT_TRUE(command.output);
  EXPECT_EQ(command.output->transcript().line(777), "part 776: error");
  EXPECT_LT(command.output->emulated_bytes(), story_.output.size() / 8);
  EXPECT_LT(told.model->feed().output().emulated_bytes(), story_.output.size() / 8);
}

TEST_F(Replaying, a_journal_that_was_cut_anywhere_tells_what_it_has) {
  const std::string bytes = story_.bytes();
  for (size_t cut = 0; cut <= bytes.size(); cut++) {
    SCOPED_TRACE(cut);
    // The engine logs nothing about bytes that it has not read.
    Records records{record(story_.spec())};
    const bool submitted = cut >= story_.before.size();
    if (submitted) records.push_back(record(story_.submit()));
    Replayed told = run(records, journals_.make("t" + std::to_string(cut), bytes.substr(0, cut)));
    EXPECT_EQ(told.model->read_to(), cut);
    ASSERT_EQ(told.model->book().commands().size(), submitted ? 1U : 0U);
    if (!submitted) continue;
    Command& command = *told.model->book().commands().front();
    EXPECT_EQ(command.over(), cut >= story_.over_at());
    EXPECT_EQ(told.model->busy(), !command.over());
    EXPECT_EQ(command.facts.exit_code.has_value(), command.over());
    EXPECT_EQ(told.model->book().current(), command.over() ? nullptr : &command);
    if (command.over()) {
      EXPECT_EQ(lines_of(told, command), "hi\n");
    }
  }
}

TEST_F(Replaying, a_log_that_was_cut_anywhere_tells_what_it_has) {
  const std::string log = story_.spec() + "\n" + story_.submit() + "\n" + story_.finish() + "\n";
  journals_.make("t1", story_.bytes());
  char name[] = "/tmp/ttyward-replay-XXXXXX";
  const std::string folder = ::mkdtemp(name);
  const base::UniqueFd fd(::open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  for (size_t cut = 0; cut <= log.size(); cut++) {
    SCOPED_TRACE(cut);
    {
      const base::UniqueFd file(::openat(fd.get(), "t1.log", O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600));
      ASSERT_EQ(::write(file.get(), log.data(), cut), static_cast<ssize_t>(cut));
    }
    auto opened = TerminalLog::open(fd.get(), "t1");
    ASSERT_TRUE(opened);
    const size_t whole = opened->records.size();
    if (whole == 0) {
      EXPECT_FALSE(replay({{}, journals_.open("t1"), 0, {}, kNow, {}}));
      continue;
    }
    Replayed told = run(std::move(opened->records), journals_.open("t1"));
    ASSERT_EQ(told.model->book().commands().size(), 1U);
    Command& command = *told.model->book().commands().front();
    // Whose command it was is lost with its record; that it ran, what it printed and how it ended is not.
    EXPECT_EQ(command.by, whole >= 2 ? Owner::Agent : Owner::User);
    EXPECT_EQ(command.facts.command, "echo hi");
    EXPECT_TRUE(command.over());
    EXPECT_EQ(command.facts.exit_code, 0);
    EXPECT_EQ(lines_of(told, command), "hi\n");
    EXPECT_EQ(command.facts.cwd_after, whole >= 3 ? "/there" : "/start");
  }
  ::unlinkat(fd.get(), "t1.log", 0);
  ::rmdir(folder.c_str());
}

TEST_F(Replaying, the_same_files_give_the_same_state) {
  journals_.make("t1", story_.bytes());
  std::vector<std::string> ids;
  for (int i = 0; i < 2; i++) {
    Replayed told = run({record(story_.spec())}, journals_.open("t1"));
    ids.push_back(told.model->book().commands().front()->facts.command_id);
  }
  EXPECT_EQ(ids[0], ids[1]);  // nobody logged an id for it
}

TEST_F(Replaying, an_answer_that_was_given_at_a_time_limit_stands) {
  const std::string bytes = story_.before + story_.started + story_.output;
  auto answered = record(R"({"k":"answered","c":"caaaaaaaaaaaa","state":"timed_out","reason":"too long"})");
  answered["at"] = bytes.size();
  Replayed told = run({record(story_.spec()), record(story_.submit()), answered},
                      journals_.make("t1", bytes + story_.ended + story_.prompt));
  const Command& command = *told.model->book().commands().front();
  EXPECT_TRUE(command.over());
  EXPECT_EQ(command.facts.state, CommandState::TimedOut);
  EXPECT_EQ(command.facts.reason, "too long");
  EXPECT_EQ(command.facts.exit_code, 0);  // seen later, and added
}

TEST_F(Replaying, names_and_loans_are_what_they_were_last) {
  Replayed told = run({record(story_.spec()), record(R"({"k":"meta","name":"one","at":0})"),
                       record(R"({"k":"loan","act":true,"to":"s1","by":"ann","since":3,"at":0})"),
                       record(R"({"k":"meta","name":"two","task":"T","at":0})"),
                       record(R"({"k":"loan","over":true,"at":0})")},
                      journals_.make("t1", story_.bytes()));
  EXPECT_EQ(told.model->spec().name, "two");
  EXPECT_EQ(told.model->spec().task, "T");
  EXPECT_FALSE(told.model->access().loan());
  EXPECT_TRUE(told.model->access().lent_for_acting());
}

TEST_F(Replaying, a_question_to_the_terminal_is_answered_once) {
  const std::string asks = story_.before + story_.started + "\x1b[6n";
  const Records records{record(story_.spec()), record(story_.submit())};
  journals_.make("t1", asks);
  EXPECT_EQ(run(records, journals_.open("t1")).replies, "\x1b[2;1R");
  EXPECT_EQ(run(records, journals_.open("t1"), asks.size()).replies, "");
  // Whoever asked has ended.
  Records later = records;
  later.push_back(record(R"({"k":"meta","name":"x","at":)" + std::to_string(asks.size()) + "}"));
  EXPECT_EQ(run(later, journals_.make("t2", asks + story_.ended)).replies, "");
}

TEST_F(Replaying, a_resize_happens_where_it_happened) {
  auto writer = journals_.begin("t1");
  RecordedJournals::put(writer, story_.before);
  writer.mark_resize({40, 10});
  RecordedJournals::put(writer, story_.started + story_.output);
  Replayed told = run({record(story_.spec()), record(story_.submit())}, journals_.open("t1"));
  EXPECT_EQ(told.model->spec().size.columns, 40);
  EXPECT_EQ(told.model->feed().output().screen().cols(), 40);
}

TEST_F(Replaying, what_never_got_a_journal_never_ran) {
  const auto missing = [] { return base::fail(base::ErrorCode::NotFound, "no journal"); };
  auto one = record(story_.spec());
  one["command_id"] = "cbbbbbbbbbbbb";
  one["command"] = "true";
  Replayed told = run({one}, missing());
  EXPECT_EQ(told.outcome, Replayed::Outcome::NeverStarted);
  EXPECT_EQ(told.model->book().commands().front()->facts.state, CommandState::FailedToStart);
  EXPECT_EQ(run({record(story_.spec())}, missing()).outcome, Replayed::Outcome::NeverStarted);
}

TEST_F(Replaying, a_damaged_journal_leaves_what_was_logged) {
  auto running = record(story_.submit());
  running["c"] = "ccccccccccccc";
  Replayed told = run({record(story_.spec()), record(story_.submit()), record(story_.finish()), running},
                      base::fail(base::ErrorCode::Corrupt, "bad sum"));
  EXPECT_EQ(told.outcome, Replayed::Outcome::Damaged);
  ASSERT_EQ(told.model->book().commands().size(), 2U);
  const auto& known = told.model->book().commands()[0]->facts;
  EXPECT_EQ(known.state, CommandState::Exited);
  EXPECT_EQ(known.exit_code, 0);
  EXPECT_EQ(known.lost_bytes, 4U);
  EXPECT_NE(known.reason.find("bad sum"), std::string::npos);
  const auto& unknown = told.model->book().commands()[1]->facts;
  EXPECT_EQ(unknown.state, CommandState::Lost);
}

TEST_F(Replaying, the_one_command_of_a_temporary_terminal_runs_until_its_exit_is_known) {
  auto spec = record(story_.spec());
  spec["command_id"] = "cbbbbbbbbbbbb";
  spec["command"] = "make";
  auto writer = journals_.begin("t1");
  RecordedJournals::put(writer, "one\r\n");
  Replayed told = run({spec}, journals_.open("t1"));
  EXPECT_TRUE(told.model->busy());
  EXPECT_FALSE(told.exit);
  journal::ExitRecord exit;
  exit.kind = journal::EndKind::Exited;
  exit.code = 3;
  writer.finish(exit);
  told = run({spec}, journals_.open("t1"));
  ASSERT_TRUE(told.exit);
  told.model->command_exited(*told.model->book().current(), *told.exit);
  EXPECT_EQ(told.model->book().commands().front()->facts.exit_code, 3);
  EXPECT_EQ(told.model->book().commands().front()->facts.total_lines, 1U);
}

}  // namespace
}  // namespace ttyward::engine
