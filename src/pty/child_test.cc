#include "pty/child.h"

#include <gtest/gtest.h>
#include <sys/wait.h>

#include "pty/spawn.h"
#include "pty/testing.h"

namespace ttyward::pty {
namespace {

using testing::Running;
using testing::shell_spec;
using testing::wait_for_exit;

TEST(Child, is_not_reaped_while_it_lives_and_keeps_its_exit_afterwards) {
  SpawnSpec spec = shell_spec("read _; exit 5", Provider::Pipe);
  spec.stdin_kind = StdinKind::Pipe;
  auto spawned = spawn(spec);
  ASSERT_TRUE(spawned);
  Running running(std::move(*spawned));
  const auto alive = running->child.try_reap();
  ASSERT_TRUE(alive);
  EXPECT_FALSE(alive->has_value());
  running->stdin_fd.reset();
  ASSERT_TRUE(wait_for_exit(running->child));
  const auto again = running->child.try_reap();
  ASSERT_TRUE(again && again->has_value());
  EXPECT_EQ((*again)->status.code, 5);
}

TEST(Child, a_signal_is_told_from_the_exit_code_that_looks_like_it) {
  auto killed = spawn(shell_spec("kill -TERM $$", Provider::Pipe));
  ASSERT_TRUE(killed);
  const auto signaled = wait_for_exit(killed->child);
  ASSERT_TRUE(signaled);
  EXPECT_EQ(signaled->status, (ExitStatus{ExitStatus::Kind::Signaled, 0, SIGTERM, false}));
  EXPECT_EQ(signaled->status.shell_code(), 143);

  auto pretends = spawn(shell_spec("exit 143", Provider::Pipe));
  ASSERT_TRUE(pretends);
  const auto exited = wait_for_exit(pretends->child);
  ASSERT_TRUE(exited);
  EXPECT_EQ(exited->status, (ExitStatus{ExitStatus::Kind::Exited, 143, 0, false}));
}

// What a plain wait says of a SEGV with this limit on core files: whether there
// is a core depends on the machine's core handler as well.
bool plain_wait_says_core(rlim_t limit, const std::string& folder) {
  const pid_t pid = ::fork();
  if (pid == 0) {
    const rlimit core{limit, limit};
    if (::chdir(folder.c_str()) != 0 || ::setrlimit(RLIMIT_CORE, &core) != 0) ::_exit(1);
    ::execl("/bin/bash", "bash", "-c", "kill -SEGV $$", nullptr);
    ::_exit(1);
  }
  int status = 0;
  EXPECT_EQ(::waitpid(pid, &status, 0), pid);
  EXPECT_TRUE(WIFSIGNALED(status));
  return WCOREDUMP(status);
}

TEST(Child, the_core_flag_is_the_kernels_word) {
  const testing::TemporaryFolder folder;
  for (const rlim_t limit : {rlim_t{0}, rlim_t{64 << 20}}) {
    const bool expected = plain_wait_says_core(limit, folder.path());
    SpawnSpec spec = shell_spec("kill -SEGV $$", Provider::Pipe);
    spec.cwd = folder.path();
    spec.limits = {{RLIMIT_CORE, {limit, limit}}};
    auto spawned = spawn(spec);
    ASSERT_TRUE(spawned);
    const auto exit = wait_for_exit(spawned->child);
    ASSERT_TRUE(exit);
    EXPECT_EQ(exit->status, (ExitStatus{ExitStatus::Kind::Signaled, 0, SIGSEGV, expected}))
        << "limit " << limit;
  }
}

TEST(Child, resource_use_covers_what_it_waited_for) {
  auto spawned =
      spawn(shell_spec("/bin/bash -c 'for ((i=0;i<200000;i++)); do :; done'; true", Provider::Pipe));
  ASSERT_TRUE(spawned);
  const auto exit = wait_for_exit(spawned->child);
  ASSERT_TRUE(exit);
  EXPECT_GT(exit->use.cpu_ms, 20);
  EXPECT_GT(exit->use.max_rss_kib, 500);
}

TEST(Child, a_signal_after_the_end_hits_nobody) {
  auto spawned = spawn(shell_spec("exit 0", Provider::Pipe));
  ASSERT_TRUE(spawned);
  ASSERT_TRUE(wait_for_exit(spawned->child));
  const auto sent = spawned->child.signal(SIGKILL);
  ASSERT_FALSE(sent);
  EXPECT_EQ(sent.error().sys_errno, ESRCH);
}

TEST(Child, an_exit_collected_by_another_is_an_error_not_a_zero) {
  auto spawned = spawn(shell_spec("exit 0", Provider::Pipe));
  ASSERT_TRUE(spawned);
  ASSERT_EQ(::waitpid(spawned->child.pid(), nullptr, 0), spawned->child.pid());
  const auto exit = spawned->child.try_reap();
  ASSERT_FALSE(exit);
  EXPECT_EQ(exit.error().sys_errno, ECHILD);
}

}  // namespace
}  // namespace ttyward::pty
