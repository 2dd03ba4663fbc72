// The small parts of a terminal: its log, its shell's files, its side of the holder.
#include <gmock/gmock.h>
#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>

#include "engine/log_records.h"
#include "engine/parts_testing.h"
#include "shell/launch.h"

namespace ttyward::engine {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

class SmallParts : public testing::Parts {
 protected:
  static std::string content(const std::string& path) {
    std::ifstream file(path);
    std::stringstream text;
    text << file.rdbuf();
    return text.str();
  }
};

// --- LogWriter

TEST_F(SmallParts, records_are_in_the_log_in_their_order) {
  ASSERT_TRUE(log_.write({{"k", "one"}}));
  log_.note({{"k", "two"}});
  EXPECT_LT(log().find("one"), log().find("two"));
  EXPECT_FALSE(log_.error());
}

TEST_F(SmallParts, a_secret_is_in_the_log_until_the_command_was_typed) {
  const std::string secret = "ghp_" + std::string(36, 'q');
  print_prompt();
  Command& command = queue("TOKEN=" + secret + " make");
  command.line = command.delivered;
  command.submission = model_.book().next_submission();
  ASSERT_TRUE(log_.write({{"k", "spec"}}));
  ASSERT_TRUE(log_.write(submit_record(command, model_, 0)));
  log_.tidy(command, model_, 1 << 20);
  EXPECT_THAT(log(), HasSubstr(secret));  // it may have to be typed again
  command.accepted = true;
  log_.tidy(command, model_, 1 << 20);
  EXPECT_THAT(log(), Not(HasSubstr(secret)));
  EXPECT_THAT(log(), HasSubstr("TOKEN="));
}

TEST_F(SmallParts, a_log_that_is_not_large_and_has_no_secret_stays_as_it_is) {
  Command& command = queue("make");
  ASSERT_TRUE(log_.write({{"k", "spec"}}));
  const std::string before = log();
  log_.tidy(command, model_, 1 << 20);
  EXPECT_EQ(log(), before);
}

// --- ShellFiles

TEST_F(SmallParts, a_nonce_is_handed_over_and_blank_once_it_was_taken) {
  const std::string path = files_.folder() + "/" + shell::kNextNonceFile;
  files_.hand_over("abcd");
  EXPECT_EQ(content(path), "abcd\n");
  files_.blank(4);
  EXPECT_EQ(content(path), "\n\n\n\n\n");
}

TEST_F(SmallParts, that_something_was_typed_is_noted_until_it_is_forgotten) {
  const std::string path = files_.folder() + "/" + shell::kTypedFile;
  EXPECT_FALSE(files_.forget_typed());
  files_.note_typed();
  EXPECT_TRUE(std::filesystem::exists(path));
  ShellFiles after_us(files_.folder());
  ASSERT_TRUE(after_us.open());
  EXPECT_TRUE(after_us.forget_typed());
  EXPECT_FALSE(std::filesystem::exists(path));
}

TEST_F(SmallParts, what_a_shell_starts_with_goes_when_it_has_started_and_all_in_the_end) {
  const std::string start = files_.folder() + "/init";
  ASSERT_TRUE(place::local().write_file(start, "hooks", 0600));
  files_.add_start_file(start);
  files_.remove_start_files();
  EXPECT_FALSE(std::filesystem::exists(start));
  EXPECT_TRUE(std::filesystem::exists(files_.folder()));
  files_.remove_all();
  EXPECT_FALSE(std::filesystem::exists(files_.folder()));
}

// --- HolderPort

TEST_F(SmallParts, what_was_typed_is_counted) {
  holder_.set_typed_bytes(100);
  holder_.type("abc");
  EXPECT_EQ(holder_.typed_bytes(), 103U);
  EXPECT_EQ(notes_.typed, "abc");
}

TEST_F(SmallParts, a_holder_that_went_is_gone) {
  EXPECT_TRUE(holder_.connected());
  EXPECT_NE(holder_.disconnect(), nullptr);
  EXPECT_FALSE(holder_.connected());
}

// Answers when the test says so.
class SlowHolder final : public command::Source {
 public:
  explicit SlowHolder(RunStates& asked) : asked_(asked) {}
  void turn(TimePoint /*now*/) override {}
  std::optional<TimePoint> deadline() const override { return std::nullopt; }
  void input(std::string_view /*bytes*/, Done /*done*/) override {}
  void close_input(Done /*done*/) override {}
  void resize(const pty::WindowSize& /*size*/, Done /*done*/) override {}
  void signal(int /*number*/, Target /*target*/, Done /*done*/) override {}
  void interrupt(Done /*done*/) override {}
  void terminate(const std::vector<pty::KillRung>& /*rungs*/, Done /*done*/) override {}
  void grant(uint64_t /*bytes*/, Done /*done*/) override {}
  void watch(uint64_t /*offset*/) override {}
  size_t input_waiting() const override { return 0; }
  void run_state(pty::AlternateScreen /*screen*/, RunStates done) override { asked_ = std::move(done); }
  void processes(Processes /*done*/) override {}

 private:
  RunStates& asked_;
};

TEST(HolderPort, an_answer_that_comes_after_its_end_is_told_to_nobody) {
  command::Source::RunStates asked;
  int told = 0;
  {
    HolderPort port;
    port.connect(std::make_unique<SlowHolder>(asked));
    port.run_state(pty::AlternateScreen::Off, [&](const base::Result<pty::RunState>&) { told++; });
    asked(pty::RunState{});
    EXPECT_EQ(told, 1);
    port.run_state(pty::AlternateScreen::Off, [&](const base::Result<pty::RunState>&) { told++; });
  }
  asked(pty::RunState{});
  EXPECT_EQ(told, 1);
}

}  // namespace
}  // namespace ttyward::engine
