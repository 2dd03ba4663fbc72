#include "terminal/result.h"

#include <gtest/gtest.h>

#include <csignal>

namespace ttyward::terminal {
namespace {

TEST(CommandResult, codes_are_those_of_a_shell) {
  CommandResult result;
  result.state = CommandState::Exited;
  result.exit_code = 42;
  EXPECT_EQ(result.shell_code(), 42);
  result.exit_code.reset();
  result.state = CommandState::Signaled;
  result.signal = "SIGSEGV";
  EXPECT_EQ(result.shell_code(), 128 + SIGSEGV);
  result.state = CommandState::TimedOut;
  EXPECT_EQ(result.shell_code(), 124);
  result.state = CommandState::FailedToStart;
  EXPECT_EQ(result.shell_code(), 125);
  result.start_failure_code = 127;
  EXPECT_EQ(result.shell_code(), 127);
  result = {};
  result.state = CommandState::Interrupted;
  EXPECT_EQ(result.shell_code(), 130);
  result.state = CommandState::AwaitingInput;
  EXPECT_EQ(result.shell_code(), 125);
}

TEST(CommandResult, every_state_has_a_name) {
  for (int i = 0; i <= static_cast<int>(CommandState::Lost); i++) {
    EXPECT_STRNE(command_state_name(static_cast<CommandState>(i)), "");
  }
}

}  // namespace
}  // namespace ttyward::terminal
