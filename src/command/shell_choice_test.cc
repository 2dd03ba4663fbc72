#include "command/shell_choice.h"

#include <gtest/gtest.h>
#include <unistd.h>

namespace ttyward::command {
namespace {

TEST(ShellChoice, the_one_that_was_asked_for_is_taken_as_it_is) {
  EXPECT_EQ(choose_shell("/no/such/shell").value(), "/no/such/shell");
}

TEST(ShellChoice, otherwise_one_that_can_be_run) {
  const auto chosen = choose_shell();
  ASSERT_TRUE(chosen);
  EXPECT_EQ(::access(chosen->c_str(), X_OK), 0);
}

}  // namespace
}  // namespace ttyward::command
