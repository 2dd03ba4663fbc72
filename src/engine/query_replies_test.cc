#include "engine/query_replies.h"

#include "engine/parts_testing.h"

namespace ttyward::engine {
namespace {

constexpr char kWhereIsTheCursor[] = "\x1b[6n";

pty::RunState with_keys(bool raw) {
  pty::RunState state;
  state.terminal.emplace();
  state.terminal->canonical = !raw;
  return state;
}

class Answering : public testing::Parts {
 protected:
  void on_replies(std::string replies) override { replies_.add(std::move(replies)); }
  bool shell_reads_ = false;
  QueryReplies replies_{live_, logs_.get(), [this](const pty::RunState&) { return shell_reads_; }};
};

TEST_F(Answering, a_program_that_reads_keys_is_answered_once) {
  run("vi");
  notes_.states = {with_keys(true)};
  print(kWhereIsTheCursor);
  EXPECT_TRUE(notes_.typed.starts_with("\x1b[") && notes_.typed.ends_with('R')) << notes_.typed;
  const std::string once = notes_.typed;
  turn();
  EXPECT_EQ(notes_.typed, once);
}

TEST_F(Answering, one_that_reads_lines_is_answered_when_it_reads_keys) {
  run("vi");
  notes_.states = {with_keys(false), with_keys(false), with_keys(true)};
  print(kWhereIsTheCursor);
  EXPECT_EQ(notes_.typed, "");
  until([&] { return notes_.typed.ends_with('R'); });
}

TEST_F(Answering, a_shell_at_its_prompt_gets_no_answer) {
  run("cat file");
  shell_reads_ = true;
  notes_.states = {with_keys(true)};
  print(kWhereIsTheCursor);
  EXPECT_EQ(notes_.typed, "");
}

TEST_F(Answering, nobody_asks_at_a_prompt) {
  print_prompt();
  notes_.states = {with_keys(true)};
  print(kWhereIsTheCursor);
  EXPECT_EQ(notes_.looks, 0);
  EXPECT_EQ(notes_.typed, "");
}

TEST_F(Answering, how_far_questions_were_answered_is_found_again) {
  EXPECT_EQ(QueryReplies::answered_to(logs_.get(), "t1"), 0U);
  run("vi");
  notes_.states = {with_keys(true)};
  print(kWhereIsTheCursor);
  EXPECT_EQ(QueryReplies::answered_to(logs_.get(), "t1"), model_.read_to());
}

TEST_F(Answering, what_nobody_answered_before_is_answered_now) {
  run("vi");
  notes_.states = {with_keys(true)};
  replies_.take_over("\x1b[1;1R");
  EXPECT_EQ(notes_.typed, "\x1b[1;1R");
}

}  // namespace
}  // namespace ttyward::engine
