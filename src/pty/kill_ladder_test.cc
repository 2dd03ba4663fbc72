// The ladder against a made-up world and a made-up clock; process_tree_test.cc
// runs it against real processes.
#include "pty/kill_ladder.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <csignal>
#include <map>

namespace ttyward::pty {
namespace {

using std::chrono::milliseconds;
using ::testing::ElementsAre;
using Outcome = KillLadder::Outcome;

const KillLadder::Clock::time_point kStart{};

struct World {
  std::map<pid_t, ProcessInfo> processes;
  std::map<pid_t, int> dies_of;  // the first signal that ends it; 0 = none does
  std::vector<std::pair<pid_t, int>> sent;
  bool readable = true;

  void add(pid_t pid, int deadly, pid_t parent = 1, char state = 'S') {
    processes[pid] = {{pid, static_cast<uint64_t>(pid) * 10}, parent, pid, pid, state, false, {}};
    dies_of[pid] = deadly;
  }
  KillActions actions() {
    KillActions a;
    a.list = [this]() -> std::optional<std::vector<ProcessInfo>> {
      if (!readable) return std::nullopt;
      std::vector<ProcessInfo> all;
      for (const auto& [pid, info] : processes) all.push_back(info);
      return all;
    };
    a.command_line = [](pid_t pid) { return "p" + std::to_string(pid); };
    a.signal = [this](const ProcessId& id, int signal) -> base::Result<void> {
      sent.emplace_back(id.pid, signal);
      if (signal == SIGKILL ? dies_of[id.pid] != 0 : signal == dies_of[id.pid]) processes.erase(id.pid);
      return {};
    };
    a.signal_group = [](const ProcessId&, int) {};
    a.reap = [] {};
    a.proof = [this] { return std::optional(processes.empty()); };
    return a;
  }
};

const std::vector<KillRung> kRungs = {
    {SIGINT, milliseconds(100)}, {SIGTERM, milliseconds(200)}, {SIGKILL, milliseconds(300)}};

TEST(KillLadder, with_nobody_there_it_is_done_at_once) {
  World world;
  KillLadder ladder(world.actions(), kRungs, {}, kStart);
  EXPECT_EQ(ladder.step(kStart), Outcome::NothingLeft);
  EXPECT_TRUE(world.sent.empty());
}

TEST(KillLadder, each_rung_comes_after_its_grace_and_ends_as_soon_as_it_can) {
  World world;
  world.add(10, SIGINT);
  world.add(11, SIGTERM);
  world.add(12, SIGKILL);
  KillLadder ladder(world.actions(), kRungs, {}, kStart);
  EXPECT_EQ(ladder.step(kStart), Outcome::Working);
  EXPECT_EQ(ladder.step(kStart + milliseconds(99)), Outcome::Working);
  EXPECT_EQ(ladder.next_step(), kStart + milliseconds(100));
  EXPECT_EQ(ladder.step(kStart + milliseconds(100)), Outcome::Working);
  EXPECT_EQ(ladder.current_signal(), SIGTERM);
  EXPECT_EQ(ladder.step(kStart + milliseconds(300)), Outcome::NothingLeft);
  using P = std::pair<pid_t, int>;
  EXPECT_THAT(world.sent, ElementsAre(P{10, SIGINT}, P{11, SIGINT}, P{12, SIGINT}, P{11, SIGTERM},
                                      P{12, SIGTERM}, P{12, SIGKILL}));
}

TEST(KillLadder, one_who_is_born_during_a_rung_gets_its_signal_once) {
  World world;
  world.add(10, SIGTERM);
  KillLadder ladder(world.actions(), kRungs, {}, kStart);
  ladder.step(kStart);
  world.add(20, SIGINT, 10);
  ladder.step(kStart + milliseconds(10));
  ladder.step(kStart + milliseconds(20));
  using P = std::pair<pid_t, int>;
  EXPECT_THAT(world.sent, ElementsAre(P{10, SIGINT}, P{20, SIGINT}));
}

TEST(KillLadder, a_stopped_process_is_woken_to_hear_it) {
  World world;
  world.add(10, SIGTERM, 1, 'T');
  KillLadder ladder(world.actions(), {{SIGTERM, milliseconds(100)}, {SIGKILL, milliseconds(100)}}, {},
                    kStart);
  ladder.step(kStart);
  using P = std::pair<pid_t, int>;
  EXPECT_THAT(world.sent, ElementsAre(P{10, SIGTERM}, P{10, SIGCONT}));
}

TEST(KillLadder, who_is_kept_is_not_touched_nor_what_it_started) {
  World world;
  world.add(10, SIGINT);
  world.add(20, SIGINT);
  world.add(21, SIGINT, 20);
  KillLadder ladder(world.actions(), kRungs, {{20, 200}}, kStart);
  EXPECT_EQ(ladder.step(kStart), Outcome::Working);
  EXPECT_EQ(ladder.step(kStart + milliseconds(1)), Outcome::NothingLeft);
  ASSERT_EQ(ladder.kept().size(), 2U);
  EXPECT_EQ(ladder.kept()[0].command, "p20");
  EXPECT_EQ(ladder.kept()[1].command, "p21");
  EXPECT_TRUE(world.processes.contains(21));
}

TEST(KillLadder, a_pid_that_now_means_another_is_not_kept) {
  World world;
  world.add(20, SIGINT);
  KillLadder ladder(world.actions(), kRungs, {{20, 1}}, kStart);
  ladder.step(kStart);
  EXPECT_FALSE(world.processes.contains(20));
}

TEST(KillLadder, what_even_kill_does_not_end_is_named) {
  World world;
  world.add(10, 0);
  KillLadder ladder(world.actions(), {{SIGKILL, milliseconds(300)}}, {}, kStart);
  EXPECT_EQ(ladder.step(kStart), Outcome::Working);
  EXPECT_EQ(ladder.step(kStart + milliseconds(300)), Outcome::Survivors);
  ASSERT_EQ(ladder.survivors().size(), 1U);
  EXPECT_EQ(ladder.survivors()[0].id.pid, 10);
}

TEST(KillLadder, a_late_owner_does_not_skip_rungs) {
  World world;
  world.add(10, SIGTERM);
  KillLadder ladder(world.actions(), kRungs, {}, kStart);
  ladder.step(kStart);
  ladder.step(kStart + std::chrono::hours(1));
  EXPECT_EQ(ladder.current_signal(), SIGTERM);
  EXPECT_EQ(ladder.step(kStart + std::chrono::hours(1)), Outcome::NothingLeft);
}

TEST(KillLadder, an_empty_list_without_the_kernels_word_is_not_the_end) {
  World world;
  KillActions actions = world.actions();
  actions.proof = [] { return std::optional(false); };
  KillLadder ladder(actions, {{SIGKILL, milliseconds(300)}}, {}, kStart);
  EXPECT_EQ(ladder.step(kStart), Outcome::Working);
}

TEST(KillLadder, an_unreadable_proc_is_said_so) {
  World world;
  world.readable = false;
  KillLadder ladder(world.actions(), kRungs, {}, kStart);
  EXPECT_EQ(ladder.step(kStart), Outcome::Unknown);
}

}  // namespace
}  // namespace ttyward::pty
