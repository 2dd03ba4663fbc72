#include "engine/command_watch.h"

#include <gmock/gmock.h>

#include "engine/parts_testing.h"

namespace ttyward::engine {
namespace {

using std::chrono::milliseconds;
using terminal::CommandState;

pty::RunState reading() {
  pty::RunState state;
  state.waiting.emplace();
  state.waiting->program = "read";
  return state;
}

class Watched : public testing::Parts {
 protected:
  CommandWatch watch_{
      live_,
      {[this](Command& command) { answered_.push_back(command.facts.state); }, [this](Command&) { lists_++; },
       [this](const pty::RunState&) { return about_something_else_; }}};
  std::vector<CommandState> answered_;
  int lists_ = 0;
  bool about_something_else_ = false;
};

TEST_F(Watched, a_time_limit_answers_and_says_what_the_command_was_stuck_on) {
  notes_.states = {reading()};
  const Command& command = run("read x", {.timeout = milliseconds(20)});
  watch_.drive();
  EXPECT_EQ(notes_.looks, 0);
  until([&] { return !answered_.empty(); });
  EXPECT_EQ(answered_, std::vector{CommandState::TimedOut});
  EXPECT_EQ(notes_.looks, 1);
  ASSERT_TRUE(command.facts.waiting);
  EXPECT_EQ(command.facts.waiting->program, "read");
  EXPECT_FALSE(command.over());
}

TEST_F(Watched, a_queued_command_runs_out_of_time_too) {
  queue("make", {.timeout = milliseconds(20)});
  watch_.drive();
  until([&] { return !answered_.empty(); });
  EXPECT_EQ(notes_.looks, 0);
}

TEST_F(Watched, the_kernel_is_asked_while_somebody_wants_to_know) {
  notes_.states = {reading()};
  const Command& command = run("read x");
  watch_.drive();
  EXPECT_EQ(command.life.deadline(), std::nullopt);
  watch_.want_input_state(1);
  until([&] { return command.facts.state == CommandState::AwaitingInput; });
  EXPECT_EQ(notes_.looks, 2);
  watch_.want_input_state(-1);
  EXPECT_EQ(command.life.deadline(), std::nullopt);
}

TEST_F(Watched, what_was_typed_to_it_makes_it_run_until_the_kernel_says_otherwise) {
  notes_.states = {reading()};
  const Command& command = run("read x y");
  watch_.want_input_state(1);
  until([&] { return command.facts.state == CommandState::AwaitingInput; });
  watch_.input_given();
  EXPECT_EQ(command.facts.state, CommandState::Running);
  until([&] { return command.facts.state == CommandState::AwaitingInput; });
}

TEST_F(Watched, what_the_kernel_says_of_something_else_is_not_the_commands) {
  notes_.states = {reading()};
  about_something_else_ = true;
  const Command& command = run("bash");
  watch_.want_input_state(1);
  until([&] { return notes_.looks >= 3; });
  EXPECT_EQ(command.facts.state, CommandState::Running);
}

TEST_F(Watched, a_look_at_a_terminal_that_has_ended_fails) {
  run("true");
  const auto link = holder_.disconnect();
  bool failed = false;
  watch_.look([&](const base::Result<pty::RunState>& state) { failed = !state; });
  EXPECT_TRUE(failed);
}

}  // namespace
}  // namespace ttyward::engine
