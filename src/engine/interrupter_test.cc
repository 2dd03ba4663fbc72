#include "engine/interrupter.h"

#include <gmock/gmock.h>

#include <csignal>

#include "engine/parts_testing.h"

namespace ttyward::engine {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

class Interrupting : public testing::Parts {
 protected:
  int told_ = 0;
  Interrupter interrupter_{live_, [this] { told_++; }};
};

TEST_F(Interrupting, what_runs_is_interrupted_at_once) {
  run("sleep 100");
  interrupter_.interrupt();
  EXPECT_EQ(notes_.interrupts, 1);
  EXPECT_EQ(told_, 1);
}

TEST_F(Interrupting, what_was_typed_and_has_not_begun_is_interrupted_when_it_has) {
  print_prompt();
  Command& command = model_.add_command("", Owner::Agent, "sleep 100");
  command.delivered = command.line = "sleep 100";
  command.submission = model_.book().next_submission();
  model_.submitted(command);
  interrupter_.interrupt();
  EXPECT_EQ(notes_.interrupts, 0);
  print_start("sleep 100");
  interrupter_.catch_up();
  EXPECT_EQ(notes_.interrupts, 1);
  interrupter_.catch_up();
  EXPECT_EQ(notes_.interrupts, 1);
}

TEST_F(Interrupting, without_a_holder_it_is_due_until_there_is_one) {
  run("sleep 100");
  const auto link = holder_.disconnect();
  interrupter_.interrupt();
  EXPECT_EQ(notes_.interrupts, 0);
  holder_.connect(std::make_unique<testing::NotedHolder>(notes_));
  interrupter_.catch_up();
  EXPECT_EQ(notes_.interrupts, 1);
}

TEST_F(Interrupting, a_command_that_ignores_it_is_brought_down_rung_by_rung) {
  run("sleep 100");
  interrupter_.bring_down();
  until([&] { return notes_.signals.size() >= 2; });
  EXPECT_GE(notes_.interrupts, 1);
  EXPECT_EQ(notes_.signals[0], SIGTERM);
  EXPECT_EQ(notes_.signals[1], SIGKILL);
}

TEST_F(Interrupting, a_command_that_ends_is_not_signaled) {
  run("sleep 100");
  interrupter_.bring_down();
  print_end(130);
  interrupter_.command_over();
  bool later = false;
  auto timer = bench_.loop().after(settings_.interrupt_grace * 3, [&] { later = true; });
  until([&] { return later; });
  bench_.loop().cancel(timer);
  EXPECT_THAT(notes_.signals, IsEmpty());
}

}  // namespace
}  // namespace ttyward::engine
