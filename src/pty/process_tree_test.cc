// Real processes. The test process is itself the subreaper here, as the holder
// is in the product; it has no other children.
#include "pty/process_tree.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>

#include "pty/kill_ladder.h"
#include "pty/spawn.h"
#include "pty/testing.h"

namespace ttyward::pty {
namespace {

using std::chrono::milliseconds;
using testing::Clock;
using testing::eventually;
using testing::read_until;
using testing::Running;
using testing::shell_spec;

class ProcessTree : public ::testing::Test {
 protected:
  void SetUp() override {
    ASSERT_TRUE(become_subreaper());
    end_everybody();  // whatever tests before this one left
    ASSERT_TRUE(nothing_left());
  }
  void TearDown() override {
    EXPECT_TRUE(nothing_left()) << "the test left processes behind";
    end_everybody();
    ::prctl(PR_SET_CHILD_SUBREAPER, 0);  // the other tests' orphans are not ours
  }

  static void end_everybody() {
    KillLadder ladder(KillActions::below_this_process({}), {{SIGKILL, testing::kPatience}}, {}, Clock::now());
    eventually([&] { return ladder.step(Clock::now()) != KillLadder::Outcome::Working; });
  }

  static Spawned start(const std::string& line, Provider provider = Provider::Pty) {
    auto spawned = spawn(shell_spec(line, provider));
    EXPECT_TRUE(spawned) << spawned.error().error.message;
    return std::move(*spawned);
  }

  // Drives a ladder as an event loop would.
  static KillLadder::Outcome bring_down(Child& leader, std::vector<KillRung> rungs,
                                        std::vector<ProcessId> keep = {},
                                        std::vector<ProcessInfo>* kept = nullptr) {
    KillLadder ladder(KillActions::below_this_process({&leader}), std::move(rungs), std::move(keep),
                      Clock::now());
    while (ladder.step(Clock::now()) == KillLadder::Outcome::Working) {
      pollfd ended{leader.exit() ? -1 : leader.pidfd(), POLLIN, 0};
      ::poll(&ended, 1, testing::until(ladder.next_step()) + 1);
    }
    if (kept != nullptr) *kept = ladder.kept();
    return ladder.outcome();
  }

  static std::vector<ProcessInfo> everybody() {
    return list_descendants(::getpid()).value_or(std::vector<ProcessInfo>{});
  }

  static std::vector<std::string> commands() {
    std::vector<std::string> all;
    for (const ProcessInfo& process : everybody())
      if (!process.zombie) all.push_back(process.command);
    return all;
  }

  // The whole command line, because a shell's own contains those of its commands.
  static bool runs(const std::string& command) {
    const auto all = commands();
    return std::find(all.begin(), all.end(), command) != all.end();
  }

  const std::vector<KillRung> quick_ = {
      {SIGINT, milliseconds(50)}, {SIGTERM, milliseconds(50)}, {SIGKILL, milliseconds(20000)}};
};

TEST_F(ProcessTree, lists_what_a_command_started_with_its_command_lines) {
  Spawned spawned = start("sleep 1001 & sleep 1002 & echo ready; wait");
  read_until(spawned.master.get(), "ready");
  ASSERT_TRUE(eventually([] { return runs("sleep 1001") && runs("sleep 1002"); }));
  const auto all = list_descendants(::getpid());
  ASSERT_TRUE(all);
  ASSERT_EQ(all->size(), 3U);
  EXPECT_EQ(all->front().id.pid, spawned.child.pid()) << "parents come first";
  for (const ProcessInfo& process : *all) EXPECT_EQ(process.session, spawned.child.pid());
  EXPECT_EQ(bring_down(spawned.child, quick_), KillLadder::Outcome::NothingLeft);
}

TEST_F(ProcessTree, the_quick_look_finds_the_same) {
  Spawned spawned = start("(sleep 1003 & sleep 1004 & wait) & setsid sleep 1005 & echo ready; wait");
  read_until(spawned.master.get(), "ready");
  ASSERT_TRUE(eventually([] { return runs("sleep 1003") && runs("sleep 1004") && runs("sleep 1005"); }));
  const auto pids = [](const std::optional<std::vector<ProcessStat>>& stats) {
    std::set<pid_t> found;
    for (const ProcessStat& stat : *stats) found.insert(stat.pid);
    return found;
  };
  EXPECT_EQ(pids(quick_descendant_stats(::getpid())), pids(descendant_stats(::getpid())));
  EXPECT_EQ(pids(quick_descendant_stats(spawned.child.pid())), pids(descendant_stats(spawned.child.pid())));
  EXPECT_EQ(bring_down(spawned.child, quick_), KillLadder::Outcome::NothingLeft);
}

TEST_F(ProcessTree, finds_and_ends_those_who_left_the_group_and_the_session) {
  Spawned spawned = start(
      "setsid sleep 1011 & (setsid sh -c 'sleep 1012 & exec sleep 1013' &) ; nohup sleep 1014 >/dev/null "
      "2>&1 &"
      " read go; exit 4");
  // All are up before the leader ends: its end hangs up on those still on their way.
  ASSERT_TRUE(eventually(
      [] { return runs("sleep 1011") && runs("sleep 1012") && runs("sleep 1013") && runs("sleep 1014"); }));
  ASSERT_EQ(::write(spawned.master.get(), "\n", 1), 1);
  const auto exit = testing::wait_for_exit(spawned.child);
  ASSERT_TRUE(exit);
  EXPECT_EQ(exit->status.code, 4);
  for (const char* still : {"sleep 1011", "sleep 1012", "sleep 1013", "sleep 1014"})
    EXPECT_TRUE(runs(still)) << still;
  EXPECT_EQ(bring_down(spawned.child, quick_), KillLadder::Outcome::NothingLeft);
  EXPECT_TRUE(commands().empty());
}

TEST_F(ProcessTree, a_double_forking_daemon_is_adopted_and_can_be_kept) {
  Spawned spawned = start(
      "/usr/bin/python3 -c 'import os,time\n"
      "if os.fork(): os._exit(0)\n"
      "os.setsid()\n"
      "if os.fork(): os._exit(0)\n"
      "time.sleep(1020)'; sleep 1021");
  // Adopted by us, in a session that neither it nor the leader made.
  const auto is_daemon = [&](const ProcessInfo& p) {
    return p.parent == ::getpid() && !p.zombie && p.session != p.id.pid && p.session != spawned.child.pid();
  };
  std::vector<ProcessId> keep;
  ASSERT_TRUE(eventually([&] {
    for (const ProcessInfo& process : everybody())
      if (is_daemon(process)) keep = {process.id};
    return !keep.empty() && runs("sleep 1021");
  }));
  std::vector<ProcessInfo> kept;
  EXPECT_EQ(bring_down(spawned.child, quick_, keep, &kept), KillLadder::Outcome::NothingLeft);
  ASSERT_EQ(kept.size(), 1U);
  EXPECT_THAT(kept[0].command, ::testing::HasSubstr("time.sleep(1020)"));
  EXPECT_TRUE(describe_process(keep[0].pid));
  EXPECT_FALSE(runs("sleep 1021"));
  EXPECT_EQ(bring_down(spawned.child, quick_), KillLadder::Outcome::NothingLeft);
}

TEST_F(ProcessTree, one_who_ignores_the_polite_signals_is_killed) {
  Spawned spawned = start("trap '' INT TERM HUP; echo ready; while :; do sleep 1031; done");
  read_until(spawned.master.get(), "ready");
  EXPECT_EQ(bring_down(spawned.child, quick_), KillLadder::Outcome::NothingLeft);
  ASSERT_TRUE(spawned.child.exit());
  EXPECT_EQ(spawned.child.exit()->status.signal, SIGKILL);
}

TEST_F(ProcessTree, one_who_cleans_up_on_interrupt_gets_the_time_for_it) {
  Spawned spawned = start("trap 'echo cleaned; exit 9' INT; echo ready; while :; do sleep 0.01; done");
  read_until(spawned.master.get(), "ready");
  EXPECT_EQ(bring_down(spawned.child, {{SIGINT, testing::kPatience}, {SIGKILL, milliseconds(1000)}}),
            KillLadder::Outcome::NothingLeft);
  ASSERT_TRUE(spawned.child.exit());
  EXPECT_EQ(spawned.child.exit()->status.code, 9);
  EXPECT_THAT(testing::read_all(spawned.master.get()), ::testing::HasSubstr("cleaned"));
}

TEST_F(ProcessTree, a_stopped_one_ends_too) {
  Spawned spawned = start("trap 'exit 3' TERM; echo ready; kill -STOP $$; while :; do sleep 0.01; done");
  read_until(spawned.master.get(), "ready");
  const pid_t pid = spawned.child.pid();
  ASSERT_TRUE(eventually([pid] {
    const auto info = describe_process(pid);
    return info && info->state == 'T';
  }));
  EXPECT_EQ(bring_down(spawned.child, {{SIGTERM, testing::kPatience}, {SIGKILL, milliseconds(1000)}}),
            KillLadder::Outcome::NothingLeft);
  ASSERT_TRUE(spawned.child.exit());
  EXPECT_EQ(spawned.child.exit()->status.code, 3);
}

TEST_F(ProcessTree, a_process_whose_first_thread_ended_is_still_found) {
  Spawned spawned = start(
      "exec /usr/bin/python3 -c 'import ctypes,threading,time,sys\n"
      "def work():\n"
      "  while True: time.sleep(0.01)\n"
      "threading.Thread(target=work).start()\n"
      "sys.stdout.write(\"ready\"); sys.stdout.flush()\n"
      "ctypes.CDLL(None).syscall(60, 0)'");  // exit(2) of the first thread alone
  read_until(spawned.master.get(), "ready");
  const pid_t pid = spawned.child.pid();
  ASSERT_TRUE(eventually([pid] { return describe_process(pid)->state == 'Z'; }));
  EXPECT_FALSE(describe_process(pid)->zombie);
  EXPECT_EQ(bring_down(spawned.child, quick_), KillLadder::Outcome::NothingLeft);
}

TEST_F(ProcessTree, a_fork_storm_ends) {
  // Each generation forks two and leaves; bounded by a count so that a failure of
  // the test cannot take the machine down.
  Spawned spawned = start(
      "exec /usr/bin/python3 -c 'import os,signal,time\n"
      "for s in (1,2,15): signal.signal(s, signal.SIG_IGN)\n"
      "r,w=os.pipe(); os.write(w,b\"x\"*300)\n"
      "print(\"ready\",flush=True)\n"
      "os.set_blocking(r,False)\n"
      "while True:\n"
      "  try: os.read(r,1)\n"
      "  except BlockingIOError: time.sleep(1040)\n"
      "  os.fork(); \n"
      "  if os.fork(): os._exit(0)\n"
      "  if os.getpid()%3==0: os.setsid()'",
      Provider::Pipe);
  read_until(spawned.stdout_fd.get(), "ready");
  EXPECT_EQ(bring_down(spawned.child, {{SIGTERM, milliseconds(20)}, {SIGKILL, testing::kPatience}}),
            KillLadder::Outcome::NothingLeft);
  EXPECT_TRUE(commands().empty());
}

TEST_F(ProcessTree, a_group_is_signaled_by_its_leader_and_by_no_other_number) {
  Spawned spawned = start("sleep 1071 & sleep 1072 & wait", Provider::Pipe);
  ASSERT_TRUE(eventually([] { return runs("sleep 1071") && runs("sleep 1072"); }));
  const auto leader = describe_process(spawned.child.pid());
  ASSERT_TRUE(leader);
  send_signal_to_group({leader->id.pid, leader->id.start_time + 1}, SIGKILL);
  EXPECT_TRUE(runs("sleep 1071"));
  send_signal_to_group(leader->id, SIGKILL);
  // On a kernel that cannot do it nothing happened, and the ladder does it one by one.
  EXPECT_EQ(bring_down(spawned.child, quick_), KillLadder::Outcome::NothingLeft);
}

TEST_F(ProcessTree, reaping_orphans_never_takes_an_owned_exit) {
  Spawned first = start("exit 21", Provider::Pipe);
  Spawned second = start("(exit 1 &) ; (sh -c 'exit 2' &); exit 22", Provider::Pipe);
  Child* const owned[] = {&first.child, &second.child};
  ASSERT_TRUE(eventually([&] {
    reap(owned);
    return nothing_left();
  }));
  ASSERT_TRUE(first.child.exit() && second.child.exit());
  EXPECT_EQ(first.child.exit()->status.code, 21);
  EXPECT_EQ(second.child.exit()->status.code, 22);
}

TEST_F(ProcessTree, a_signal_goes_to_the_very_process_or_to_nobody) {
  Spawned spawned = start("exec sleep 1050", Provider::Pipe);
  const auto info = describe_process(spawned.child.pid());
  ASSERT_TRUE(info);
  const auto wrong = send_signal({info->id.pid, info->id.start_time + 1}, SIGKILL);
  ASSERT_FALSE(wrong);
  EXPECT_EQ(wrong.error().sys_errno, ESRCH);
  EXPECT_FALSE(spawned.child.try_reap()->has_value());
  EXPECT_TRUE(send_signal(info->id, SIGTERM));
  const auto exit = testing::wait_for_exit(spawned.child);
  ASSERT_TRUE(exit);
  EXPECT_EQ(exit->status.signal, SIGTERM);
}

TEST_F(ProcessTree, who_was_left_behind_by_its_parent_still_belongs_to_the_command) {
  // In pipes nothing hangs up, and a shell's background process ignores the interrupt that ends the shell.
  Spawned one = start("sleep 1063 & echo ready; wait", Provider::Pipe);
  ASSERT_TRUE(eventually([] { return runs("sleep 1063"); }));
  KillLadder ladder(KillActions::below(one.child.pid(), {&one.child}), quick_, {}, Clock::now());
  ASSERT_TRUE(eventually([&] { return ladder.step(Clock::now()) == KillLadder::Outcome::NothingLeft; }));
  EXPECT_FALSE(runs("sleep 1063"));
  reap({});  // it was given to us
}

TEST_F(ProcessTree, one_command_among_others_can_be_brought_down_alone) {
  Spawned one = start("sleep 1061 & echo ready; wait");
  Spawned other = start("echo ready; exec sleep 1062");
  read_until(one.master.get(), "ready");
  read_until(other.master.get(), "ready");
  KillLadder ladder(KillActions::below(one.child.pid(), {&one.child}), quick_, {}, Clock::now());
  ASSERT_TRUE(eventually([&] { return ladder.step(Clock::now()) == KillLadder::Outcome::NothingLeft; }));
  EXPECT_FALSE(runs("sleep 1061"));
  EXPECT_TRUE(eventually([] { return runs("sleep 1062"); }));  // its exec may come late
  EXPECT_EQ(bring_down(other.child, quick_), KillLadder::Outcome::NothingLeft);
}

}  // namespace
}  // namespace ttyward::pty
