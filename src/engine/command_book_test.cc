#include "engine/command_book.h"

#include <gtest/gtest.h>

namespace ttyward::engine {
namespace {

Command& add(CommandBook& book, const std::string& id, bool over) {
  auto command = std::make_unique<Command>(command::LifeOptions{}, terminal::CommandResult{},
                                           Command::Clock::time_point{});
  command->facts.command_id = id;
  if (over) command->life.finish({});
  return book.add(std::move(command));
}

TEST(CommandBook, the_oldest_that_are_over_are_forgotten_and_named_once) {
  CommandBook book(2);
  add(book, "a", true);
  add(book, "b", false);
  add(book, "c", true);
  EXPECT_EQ(book.take_forgotten(), std::vector<std::string>{"a"});
  add(book, "d", true);  // b still runs, so nothing behind it goes
  EXPECT_TRUE(book.take_forgotten().empty());
  EXPECT_EQ(book.commands().size(), 3U);
  EXPECT_EQ(book.find("a"), nullptr);
  EXPECT_NE(book.find("b"), nullptr);
}

TEST(CommandBook, a_submission_finds_the_command_that_has_not_ended) {
  CommandBook book(9);
  add(book, "a", true).submission = 1;
  Command& b = add(book, "b", false);
  b.submission = book.next_submission();
  EXPECT_EQ(book.find(shell::SubmissionId{1}), &b);
  EXPECT_EQ(book.find(shell::SubmissionId{2}), nullptr);
  book.submission_used(7);
  EXPECT_EQ(book.next_submission(), 8U);
}

TEST(CommandBook, time_runs_for_the_current_command_or_else_for_the_queued_one) {
  CommandBook book(9);
  EXPECT_EQ(book.active(), nullptr);
  Command& a = add(book, "a", false);
  book.set_queued(&a);
  EXPECT_EQ(book.active(), &a);
  book.set_queued(nullptr);
  book.set_current(&a);
  Command& b = add(book, "b", false);
  book.set_queued(&b);
  EXPECT_EQ(book.active(), &a);
  a.life.finish({});
  book.ended(a);
  EXPECT_EQ(book.current(), nullptr);
  EXPECT_EQ(book.active(), &b);
}

TEST(CommandBook, outputs_of_the_newest_are_kept) {
  CommandBook book(9);
  for (const char* id : {"a", "b", "c", "d"}) {
    Command& command = add(book, id, true);
    command.output = std::make_unique<terminal::Output>(terminal::OutputOptions{});
    if (*id == 'a') command.life.set_range({0, 8 << 20});  // takes long to make again
  }
  book.forget_outputs();
  EXPECT_TRUE(book.find("a")->output);
  EXPECT_FALSE(book.find("b")->output);
  EXPECT_TRUE(book.find("c")->output);
  EXPECT_TRUE(book.find("d")->output);
}

}  // namespace
}  // namespace ttyward::engine
