#include "command/run.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <thread>

namespace ttyward {
namespace {

using terminal::CommandState;

TEST(Run, three_lines_are_enough) {
  const auto result = run("printf '\\033[31mred\\033[0m\\n'; exit 3");
  EXPECT_EQ(result.output.text, "red\n");
  EXPECT_EQ(result.shell_code(), 3);
}

TEST(Run, choices_are_heeded) {
  const auto result = run("pwd; echo $COLOUR", {.cwd = "/tmp", .environment = {"COLOUR=blue"}});
  EXPECT_EQ(result.output.text, "/tmp\nblue\n");
  EXPECT_EQ(run("sleep 600", {.timeout = std::chrono::milliseconds(200)}).state, CommandState::TimedOut);
}

TEST(Run, a_question_nobody_answers_ends_it) {
  const auto result = run("read -p 'Name? ' name", {.input_patience = std::chrono::milliseconds(300)});
  EXPECT_EQ(result.state, CommandState::AwaitingInput);
  ASSERT_TRUE(result.waiting);
  EXPECT_EQ(result.waiting->prompt, "Name?");
}

TEST(Run, what_cannot_be_started_is_a_result) {
  EXPECT_EQ(run("true", {.cwd = "/nowhere"}).state, CommandState::FailedToStart);
  EXPECT_EQ(run("true", {.environment = {"LD_PRELOAD=/tmp/x.so"}}).state, CommandState::FailedToStart);
}

TEST(Run, from_several_threads_at_once) {
  std::vector<std::thread> threads;
  std::vector<int> codes(8);
  for (int i = 0; i < 8; i++)
    threads.emplace_back(
        [&, i] { codes[static_cast<size_t>(i)] = run("exit " + std::to_string(i)).shell_code(); });
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(codes, (std::vector<int>{0, 1, 2, 3, 4, 5, 6, 7}));
}

}  // namespace
}  // namespace ttyward
