#include "engine/output_maker.h"

#include <gtest/gtest.h>

#include "engine/read.h"
#include "engine/testing.h"

namespace ttyward::engine {
namespace {

using testing::Bench;

// A command whose output was printed long enough ago not to be in memory.
Command& old_command(Bench& bench, Terminal& terminal, const std::string& text) {
  bench.exec(terminal, text);
  const std::string id = terminal.last()->facts.command_id;
  for (int i = 0; i < 3; i++) bench.exec(terminal, "echo " + std::to_string(i));
  Command& command = *terminal.find(id);
  EXPECT_EQ(command.output, nullptr);
  return command;
}

TEST(OutputMaker, an_old_output_is_made_again_for_all_who_want_it) {
  Bench bench;
  Terminal& t = bench.shell();
  Command& command = old_command(bench, t, "seq 1 500000");
  int ready = 0;
  for (int i = 0; i < 3; i++) t.when_output_ready(command, [&] { ready++; });
  bench.until([&] { return ready == 3; });
  ASSERT_NE(command.output, nullptr);
  const auto result = t.result(command, {});
  EXPECT_EQ(result.total_lines, 500'000U);
  EXPECT_EQ(command.output->transcript().line(500'000), "500000");
}

TEST(OutputMaker, what_is_in_memory_or_little_is_ready_at_once) {
  Bench bench;
  Terminal& t = bench.shell();
  Command& little = old_command(bench, t, "echo hi");
  bool ready = false;
  t.when_output_ready(little, [&] { ready = true; });
  EXPECT_TRUE(ready);
  EXPECT_EQ(t.result(little, {}).output.text, "hi\n");
  ready = false;
  t.when_output_ready(*t.find(t.last()->facts.command_id), [&] { ready = true; });
  EXPECT_TRUE(ready);
}

TEST(OutputMaker, others_are_served_while_it_is_made) {
  Bench bench;
  Terminal& t = bench.shell();
  // Much work for few bytes: each repeats a character over the whole screen.
  Command& command = old_command(bench, t, R"(for i in $(seq 2000); do printf 'x\033[65535b\n'; done)");
  bool ready = false;
  int turns = 0;
  t.when_output_ready(command, [&] { ready = true; });
  bench.until([&] {
    turns++;
    return ready;
  });
  EXPECT_GT(turns, 3);
}

TEST(OutputMaker, colours_are_made_for_one_reader) {
  Bench bench;
  Terminal& t = bench.shell();
  bench.exec(t, R"(printf '\033[31mred\033[0m\n')");
  const Command& command = *t.last();
  std::shared_ptr<terminal::Output> styled;
  t.styled_output(&command, [&](std::shared_ptr<terminal::Output> made) { styled = std::move(made); });
  bench.until([&] { return styled != nullptr; });
  const auto source = OutputSource::find(t, command.facts.command_id)->with(styled);
  EXPECT_EQ(read_tail(source, 1, {})->text, "\033[0;31mred\033[m\n");
  EXPECT_EQ(read_tail(*OutputSource::find(t, command.facts.command_id), 1, {})->text, "red\n");
}

TEST(OutputMaker, those_who_wait_are_told_when_the_terminal_goes) {
  Bench bench;
  Terminal& t = bench.shell();
  Command& command = old_command(bench, t, R"(for i in $(seq 2000); do printf 'x\033[65535b\n'; done)");
  bool told = false;
  t.when_output_ready(command, [&] { told = true; });
  ASSERT_FALSE(told);
  t.kill();
  bench.until([&] { return !bench.holder_lives(t); });
  bench.forget_all();
  bench.until([&] { return told; });
}

}  // namespace
}  // namespace ttyward::engine
