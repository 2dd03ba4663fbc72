#include "engine/typist.h"

#include <gmock/gmock.h>

#include "engine/parts_testing.h"

namespace ttyward::engine {
namespace {

using terminal::CommandState;
using ::testing::HasSubstr;
using ::testing::Not;

class Typing : public testing::Parts {
 protected:
  void on_incomplete_input() override { typist_.abandon_input(); }
  Typist typist_{live_};
};

TEST_F(Typing, a_command_waits_for_the_prompt_and_is_logged_before_it_is_typed) {
  Command& command = queue("echo hi");
  typist_.pump();
  EXPECT_EQ(notes_.typed, "");
  notes_.refuses = true;  // what is in the log now was there before it was typed
  print_prompt();
  typist_.pump();
  EXPECT_THAT(log(), HasSubstr(R"("text":"echo hi")"));
  EXPECT_EQ(command.facts.state, CommandState::FailedToStart);
  EXPECT_EQ(command.facts.reason, "it takes no input");
}

TEST_F(Typing, what_is_typed_is_the_command_and_the_end_of_its_line) {
  print_prompt();
  Command& command = queue("echo hi");
  typist_.pump();
  EXPECT_THAT(notes_.typed, HasSubstr("echo hi"));
  EXPECT_TRUE(notes_.typed.ends_with('\r'));
  EXPECT_EQ(holder_.typed_bytes(), notes_.typed.size());
  EXPECT_TRUE(command.sent);
  EXPECT_TRUE(command.accepted);
  EXPECT_EQ(model_.book().current(), &command);
  EXPECT_EQ(model_.book().queued(), nullptr);
}

TEST_F(Typing, a_line_editor_that_has_just_started_gets_a_moment) {
  print(testing::mark("A", 0) + "$ " + testing::mark("B", 0));  // no bracketed paste yet
  queue("echo hi");
  typist_.pump();
  EXPECT_EQ(notes_.typed, "");
  until([&] { return notes_.typed.ends_with('\r'); });
}

TEST_F(Typing, what_is_objected_to_in_the_last_moment_is_not_typed) {
  print_prompt();
  Command& command = queue("make");
  command.second_look = [] { return std::string("the folder is another one now"); };
  typist_.pump();
  EXPECT_EQ(notes_.typed, "");
  EXPECT_EQ(command.facts.state, CommandState::Denied);
  EXPECT_EQ(command.facts.reason, "the folder is another one now");
  EXPECT_TRUE(command.over());
}

TEST_F(Typing, while_a_person_has_the_keyboard_an_agents_command_waits) {
  print_prompt();
  model_.access().set_lease(Lease{1, "anna", 0});
  Command& command = queue("make");
  typist_.pump();
  EXPECT_EQ(notes_.typed, "");
  EXPECT_FALSE(command.answered());
  model_.access().set_lease(std::nullopt);
  typist_.pump();
  EXPECT_THAT(notes_.typed, HasSubstr("make"));
}

TEST_F(Typing, half_a_line_that_somebody_left_goes_first) {
  print_prompt();
  model_.typed("rm -rf ");
  queue("ls");
  typist_.pump();
  EXPECT_EQ(notes_.typed, "\x03");
  print_prompt();
  typist_.prompt();
  until([&] { return notes_.typed.size() > 1; });
  EXPECT_THAT(notes_.typed, Not(HasSubstr("rm")));
  EXPECT_THAT(notes_.typed, HasSubstr("ls"));
}

// With Ctrl-C the kernel throws away output that nobody has read: here the end of the new prompt.
TEST_F(Typing, a_prompt_that_was_lost_with_ctrl_c_is_asked_for_once_the_shell_reads) {
  constexpr pid_t kShell = 4711;
  model_.started(kShell, pty::Provider::Pty);
  print_prompt();
  model_.typed("rm -rf ");
  queue("ls");
  typist_.pump();
  EXPECT_EQ(notes_.typed, "\x03");
  print(testing::mark("A", 1) + "$ ");
  pty::RunState works;
  pty::RunState reads;
  reads.waiting = pty::Waiting{};
  reads.waiting->pid = kShell;
  pty::RunState other_reads = reads;
  other_reads.waiting->pid = kShell + 1;
  notes_.states = {works, other_reads, reads};
  until([&] { return notes_.typed != "\x03"; });
  EXPECT_EQ(notes_.typed, "\x03\r");  // the queued command waits for the prompt
  EXPECT_EQ(notes_.looks, 3);
  print_prompt();
  typist_.prompt();
  until([&] { return notes_.typed.size() > 2; });
  EXPECT_THAT(notes_.typed, HasSubstr("ls"));
  EXPECT_THAT(notes_.typed, Not(HasSubstr("rm")));
}

TEST_F(Typing, a_prompt_that_came_with_ctrl_c_is_not_asked_for) {
  constexpr pid_t kShell = 4711;
  model_.started(kShell, pty::Provider::Pty);
  print_prompt();
  model_.typed("rm -rf ");
  queue("ls");
  typist_.pump();
  pty::RunState reads;
  reads.waiting = pty::Waiting{};
  reads.waiting->pid = kShell;
  notes_.states = {reads};
  print_prompt();
  typist_.prompt();
  until([&] { return notes_.typed.ends_with("ls\r") || notes_.typed.size() > 4; });
  EXPECT_EQ(notes_.looks, 0);
  EXPECT_FALSE(notes_.typed.starts_with("\x03\r"));
}

TEST_F(Typing, a_line_that_is_no_whole_command_is_abandoned_until_it_is_over) {
  Command& command = run("echo '");
  typist_.abandon_input();
  EXPECT_TRUE(typist_.abandoning());
  until([&] { return notes_.typed == "\x03\x03"; });
  print_end(130);
  EXPECT_TRUE(command.over());
  typist_.stop_abandoning();
  EXPECT_FALSE(typist_.abandoning());
}

}  // namespace
}  // namespace ttyward::engine
