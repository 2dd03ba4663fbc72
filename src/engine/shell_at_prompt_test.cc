#include "engine/shell_at_prompt.h"

#include <gtest/gtest.h>

#include "engine/shell_care.h"
#include "engine/shell_session.h"
#include "engine/typist.h"

namespace ttyward::engine {
namespace {

TEST(ShellAtPrompt, a_shell_with_a_script_reads_no_commands) {
  EXPECT_TRUE(reads_commands({"bash"}));
  EXPECT_TRUE(reads_commands({"bash", "--init-file", "x", "-i"}));
  EXPECT_TRUE(reads_commands({"/bin/busybox", "sh"}));
  EXPECT_FALSE(reads_commands({"bash", "script.sh"}));
  EXPECT_FALSE(reads_commands({"bash", "-c", "read x"}));
  EXPECT_FALSE(reads_commands({"bash", "--", "x"}));
}

TEST(ShellAtPrompt, ssh_without_a_command_opens_a_shell_elsewhere) {
  EXPECT_TRUE(opens_shell_elsewhere({"ssh", "host"}));
  EXPECT_TRUE(opens_shell_elsewhere({"ssh", "-p", "22", "host"}));
  EXPECT_FALSE(opens_shell_elsewhere({"ssh", "host", "ls"}));
  EXPECT_FALSE(opens_shell_elsewhere({"ssh", "-N", "host"}));
  EXPECT_TRUE(opens_shell_elsewhere({"docker", "exec", "-it", "c", "bash"}));
  EXPECT_FALSE(opens_shell_elsewhere({"vi", "file"}));
}

TEST(ShellAtPrompt, prompts_end_as_prompts_do) {
  EXPECT_TRUE(ends_like_a_prompt("user@host:~$ "));
  EXPECT_TRUE(ends_like_a_prompt("#"));
  EXPECT_FALSE(ends_like_a_prompt("Password:"));
  EXPECT_FALSE(ends_like_a_prompt(""));
}

TEST(ShellAtPrompt, commands_that_touch_prompts_are_known) {
  EXPECT_TRUE(touches_prompts("unset PROMPT_COMMAND"));
  EXPECT_FALSE(touches_prompts("echo hi"));
}

TEST(ShellSession, a_shell_that_lost_its_marks_goes_by_sentinel_until_it_has_hooks) {
  ShellSession shell({{}, shell::Quality::Rich, "5eed", "/", false});
  EXPECT_FALSE(shell.needs_sentinel());
  shell.unmarked({"exec", 77}, 10);
  EXPECT_TRUE(shell.marks_lost());
  EXPECT_TRUE(shell.needs_sentinel());
  EXPECT_EQ(shell.pid(1), 77);
  EXPECT_EQ(shell.unmarked_reason(), "exec");
  shell.integrate(shell::ShellKind::Zsh);
  EXPECT_FALSE(shell.needs_sentinel());
  EXPECT_TRUE(shell.integrated());
  EXPECT_FALSE(shell.integrated());
  EXPECT_FALSE(shell.marks_lost());
  EXPECT_EQ(shell.identity().kind, shell::ShellKind::Zsh);
}

TEST(ShellSession, what_a_shell_starts_with_is_no_change_of_its_environment) {
  ShellSession shell({{}, shell::Quality::Rich, "5eed", "/", false});
  const shell::EnvironmentChanged change{{{"A", "1", false}, {"B", std::nullopt, true}}};
  shell.environment_changed(change, false);
  EXPECT_TRUE(shell.environment_changes().empty());
  shell.environment_changed(change, true);
  EXPECT_EQ(shell.environment_changes().at("A"), "1");
  EXPECT_EQ(shell.environment_changes().at("B"), "[hidden]");
}

TEST(Typist, a_command_elsewhere_comes_back) {
  const std::string line = with_cwd("ls", "/a b", shell::ShellKind::Bash);
  EXPECT_NE(line.find("cd -- '/a b'"), std::string::npos) << line;
  EXPECT_NE(line.find("cd -- \"$__tw_d\""), std::string::npos) << line;
}

}  // namespace
}  // namespace ttyward::engine
