#include "engine/environment_details.h"

#include <gtest/gtest.h>

#include "engine/testing.h"

namespace ttyward::engine {
namespace {

using testing::Bench;

TEST(EnvironmentDetails, WhatRunsAndWhatIsNewIsToldOnce) {
  Bench bench;
  Readers readers;
  Terminal& busy = bench.shell();
  Terminal& idle = bench.shell();
  bench.exec(idle, "echo done; false");
  ASSERT_TRUE(busy.submit(bench.request("echo begun; read -p 'go? ' x; echo more; read x")));
  bench.until([&] { return busy.output().cursor_line() == "go?"; });

  const auto first = describe_environment({&busy, &idle}, readers, "agent", {});
  EXPECT_EQ(first.text,
            "# Terminals in use\n\nTerminal " + busy.id() + " (Active)\nWorking directory: " + busy.cwd() +
                "\nRunning command: echo begun; read -p 'go? ' x; echo more; read x\n" +
                "New output:\nbegun\n\n# Terminals with output of finished commands\n\nTerminal " +
                idle.id() + " (Inactive)\nWorking directory: " + idle.cwd() +
                "\nFinished command (exited, exit code 1): echo done; false\n" +
                "Output not seen yet:\ndone\n");
  ASSERT_EQ(first.active.size(), 1U);
  ASSERT_EQ(first.inactive.size(), 1U);

  const auto second = describe_environment({&busy, &idle}, readers, "agent", {});
  ASSERT_EQ(second.active.size(), 1U);
  EXPECT_EQ(second.active[0].running->output.text, "");
  EXPECT_TRUE(second.inactive.empty());

  busy.input("\r", Owner::Agent, [](auto) {});
  const OutputSource source = OutputSource::find(busy, busy.last()->facts.command_id).value();
  bench.until([&] { return readers.unread_lines("agent", source) == 2; });
  const auto third = describe_environment({&busy, &idle}, readers, "agent", {});
  EXPECT_EQ(third.active[0].running->output.text, "go? \nmore\n");
}

TEST(EnvironmentDetails, CoolDownWaitsForWhatIsHotButNotForEver) {
  Bench bench;
  bench.settings().hot = std::chrono::milliseconds(200);
  Terminal& t = bench.shell();
  bool done = false;
  CoolDown idle(
      bench.loop(), [&] { return std::vector<Terminal*>{&t}; }, true, CoolDown::kMost, [&] { done = true; });
  EXPECT_FALSE(done);
  bench.until([&] { return done; });

  ASSERT_TRUE(t.submit(bench.request("for i in 1 2 3 4 5; do echo $i; sleep 0.05; done; read x")));
  bench.until([&] { return t.hot(); });
  done = false;
  CoolDown busy(
      bench.loop(), [&] { return std::vector<Terminal*>{&t}; }, false, testing::kPatience,
      [&] { done = true; });
  bench.until([&] { return done; });
  EXPECT_FALSE(t.hot());

  bench.settings().hot = testing::kPatience;
  done = false;
  CoolDown bounded(
      bench.loop(), [&] { return std::vector<Terminal*>{&t}; }, false, std::chrono::milliseconds(150),
      [&] { done = true; });
  bench.until([&] { return done; });
  EXPECT_TRUE(t.hot());
}

}  // namespace
}  // namespace ttyward::engine
