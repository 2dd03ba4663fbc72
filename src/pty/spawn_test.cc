#include "pty/spawn.h"

#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/ioctl.h>
#include <sys/resource.h>
#include <termios.h>

#include <filesystem>
#include <fstream>
#include <thread>

#include "pty/testing.h"

namespace ttyward::pty {
namespace {

using ::testing::HasSubstr;
using testing::read_all;
using testing::Running;
using testing::shell_spec;
using testing::TemporaryFolder;
using testing::wait_for_exit;

struct Outcome {
  std::string out;
  std::string err;
  std::optional<Exit> exit;
};

Outcome run(const SpawnSpec& spec) {
  auto spawned = spawn(spec);
  if (!spawned) return {{}, spawned.error().error.message, std::nullopt};
  Running running(std::move(*spawned));
  Outcome outcome;
  if (spec.provider == Provider::Pty) {
    outcome.out = read_all(running->master.get());
  } else {
    outcome.out = read_all(running->stdout_fd.get());
    outcome.err = read_all(running->stderr_fd.get());
  }
  outcome.exit = wait_for_exit(running->child);
  return outcome;
}

SpawnSpec argv_spec(std::vector<std::string> argv) {
  SpawnSpec spec = shell_spec("", Provider::Pipe);
  spec.argv = std::move(argv);
  return spec;
}

size_t open_descriptors() {
  size_t count = 0;
  for ([[maybe_unused]] const auto& entry : std::filesystem::directory_iterator("/proc/self/fd")) ++count;
  return count;
}

TEST(Spawn, a_shell_line_in_a_terminal) {
  const Outcome outcome = run(shell_spec("echo hello; test -t 0 -a -t 1 -a -t 2 && exit 7"));
  EXPECT_EQ(outcome.out, "hello\r\n");
  ASSERT_TRUE(outcome.exit);
  EXPECT_EQ(outcome.exit->status, (ExitStatus{ExitStatus::Kind::Exited, 7, 0, false}));
}

TEST(Spawn, pipes_keep_stdout_and_stderr_apart) {
  const Outcome outcome = run(shell_spec("echo out; echo err >&2; cat", Provider::Pipe));
  EXPECT_EQ(outcome.out, "out\n");
  EXPECT_EQ(outcome.err, "err\n");
  ASSERT_TRUE(outcome.exit);
  EXPECT_TRUE(outcome.exit->status.success());
}

TEST(Spawn, stdin_can_be_a_pipe_or_a_descriptor_of_ours) {
  SpawnSpec spec = argv_spec({"cat"});
  spec.stdin_kind = StdinKind::Pipe;
  auto spawned = spawn(spec);
  ASSERT_TRUE(spawned);
  Running running(std::move(*spawned));
  ASSERT_EQ(::write(running->stdin_fd.get(), "ping", 4), 4);
  running->stdin_fd.reset();
  EXPECT_EQ(read_all(running->stdout_fd.get()), "ping");

  const TemporaryFolder folder;
  std::ofstream(folder.path() + "/text") << "from a file";
  const base::UniqueFd file(::open((folder.path() + "/text").c_str(), O_RDONLY | O_CLOEXEC));
  spec.stdin_kind = StdinKind::Descriptor;
  spec.stdin_fd = file.get();
  EXPECT_EQ(run(spec).out, "from a file");
}

TEST(Spawn, leads_its_own_session_and_group_and_owns_the_terminal) {
  auto spawned = spawn(shell_spec("read _ < /dev/tty"));
  ASSERT_TRUE(spawned);
  Running running(std::move(*spawned));
  const pid_t pid = running->child.pid();
  EXPECT_EQ(::getsid(pid), pid);
  EXPECT_EQ(::getpgid(pid), pid);
  EXPECT_EQ(::tcgetpgrp(running->master.get()), pid);
}

TEST(Spawn, size_and_iutf8_are_there_before_the_program_looks) {
  SpawnSpec spec = shell_spec("stty size; stty -a | grep -o ' iutf8'");
  spec.size = {132, 43, 1320, 860};
  EXPECT_EQ(run(spec).out, "43 132\r\n iutf8\r\n");
}

TEST(Spawn, environment_directory_and_umask_are_exactly_those_asked_for) {
  const TemporaryFolder folder;
  SpawnSpec spec = argv_spec({"env"});
  spec.environment = {"PATH=/usr/bin:/bin", "ONLY=this"};
  EXPECT_EQ(run(spec).out, "PATH=/usr/bin:/bin\nONLY=this\n");

  spec = shell_spec("pwd -P; umask", Provider::Pipe);
  spec.cwd = folder.path();
  spec.umask = 027;
  EXPECT_EQ(run(spec).out, std::filesystem::canonical(folder.path()).string() + "\n0027\n");
}

TEST(Spawn, no_descriptor_of_ours_reaches_the_child_unless_asked) {
  const base::UniqueFd leaky(::open("/dev/null", O_RDONLY));  // NOLINT(android-cloexec-open): on purpose
  const base::UniqueFd kept(::open("/dev/null", O_RDONLY | O_CLOEXEC));
  SpawnSpec spec = argv_spec({"ls", "/proc/self/fd"});
  EXPECT_EQ(run(spec).out, "0\n1\n2\n3\n");  // 3 is ls reading the folder

  spec = argv_spec({"readlink", "/proc/self/fd/" + std::to_string(kept.get())});
  spec.keep_fds = {kept.get()};
  EXPECT_EQ(run(spec).out, "/dev/null\n");
  spec.keep_fds = {};
  EXPECT_EQ(run(spec).out, "");
}

TEST(Spawn, signals_are_as_the_system_delivers_them) {
  sigset_t blocked;
  sigset_t before;
  ::sigemptyset(&blocked);
  ::sigaddset(&blocked, SIGTERM);
  ::pthread_sigmask(SIG_BLOCK, &blocked, &before);
  const auto old = std::signal(SIGPIPE, SIG_IGN);
  const Outcome outcome = run(argv_spec({"grep", "-E", "^Sig(Blk|Ign)", "/proc/self/status"}));
  sigset_t now;
  ::pthread_sigmask(SIG_SETMASK, nullptr, &now);
  EXPECT_EQ(::sigismember(&now, SIGTERM), 1) << "spawn must put our own mask back";
  EXPECT_EQ(::sigismember(&now, SIGUSR1), 0);
  std::signal(SIGPIPE, old);
  ::pthread_sigmask(SIG_SETMASK, &before, nullptr);
  EXPECT_EQ(outcome.out, "SigBlk:\t0000000000000000\nSigIgn:\t0000000000000000\n");
}

TEST(Spawn, exec_failures_are_errors_and_told_apart) {
  const TemporaryFolder folder;
  const auto file = [&](const char* name, const char* text, mode_t mode) {
    const std::string path = folder.path() + "/" + name;
    std::ofstream(path) << text;
    ::chmod(path.c_str(), mode);
    return path;
  };
  const auto failure = [](std::vector<std::string> argv) {
    const auto spawned = spawn(argv_spec(std::move(argv)));
    EXPECT_FALSE(spawned);
    return spawned.error();
  };
  const SpawnError missing = failure({"no-such-program-here"});
  EXPECT_EQ(missing.failure, SpawnFailure::NotFound);
  EXPECT_EQ(missing.shell_code(), 127);
  EXPECT_EQ(missing.error.message, "no-such-program-here: command not found");
  EXPECT_EQ(failure({"/no/such/file"}).shell_code(), 127);
  EXPECT_EQ(failure({file("plain", "text", 0644)}).shell_code(), 126);
  EXPECT_EQ(failure({folder.path()}).shell_code(), 126);
  const SpawnError interpreter = failure({file("script", "#!/no/such/interpreter\n", 0755)});
  EXPECT_EQ(interpreter.shell_code(), 126);
  EXPECT_THAT(interpreter.error.message, HasSubstr("interpreter"));
  EXPECT_EQ(failure({file("garbage", "\1\2\3", 0755)}).shell_code(), 126);
  EXPECT_EQ(failure({""}).failure, SpawnFailure::BadRequest);
  EXPECT_EQ(failure({std::string("a\0b", 3)}).failure, SpawnFailure::BadRequest);
  EXPECT_EQ(failure({"true", std::string(4 << 20, 'x')}).failure, SpawnFailure::BadRequest);
}

TEST(Spawn, a_bad_directory_is_named_before_a_bad_program) {
  SpawnSpec spec = argv_spec({"no-such-program-here"});
  for (const char* bad : {"/no/such/folder", "/dev/null"}) {
    spec.cwd = bad;
    const auto spawned = spawn(spec);
    ASSERT_FALSE(spawned);
    EXPECT_EQ(spawned.error().failure, SpawnFailure::BadDirectory);
    EXPECT_EQ(spawned.error().shell_code(), std::nullopt);
    EXPECT_THAT(spawned.error().error.message, HasSubstr(bad));
  }
}

TEST(Spawn, relative_names_mean_the_childs_directory_and_path) {
  const TemporaryFolder folder;
  std::ofstream(folder.path() + "/tool") << "#!/bin/sh\necho from \"$0\"\n";
  ::chmod((folder.path() + "/tool").c_str(), 0755);
  SpawnSpec spec = argv_spec({"./tool"});
  spec.cwd = folder.path();
  EXPECT_EQ(run(spec).out, "from ./tool\n");
  spec.argv = {"tool"};
  EXPECT_EQ(spawn(spec).error().failure, SpawnFailure::NotFound);
  spec.environment = {"PATH=/nowhere::"};
  EXPECT_EQ(run(spec).out, "from ./tool\n");
}

TEST(Spawn, a_prefix_runs_the_command) {
  SpawnSpec spec = argv_spec({"sh", "-c", "echo $LAYER"});
  spec.argv_prefix = {"env", "LAYER=inside"};
  EXPECT_EQ(run(spec).out, "inside\n");
}

TEST(Spawn, a_hook_runs_in_the_childs_own_memory_and_may_refuse) {
  int calls = 0;
  SpawnSpec spec = argv_spec({"sh", "-c", "echo $PPID; ulimit -n"});
  spec.pre_exec_context = &calls;
  spec.pre_exec = [](void* context) {
    ++*static_cast<int*>(context);
    const rlimit few{64, 64};
    return ::setrlimit(RLIMIT_NOFILE, &few) == 0 ? 0 : errno;
  };
  EXPECT_EQ(run(spec).out, std::to_string(::getpid()) + "\n64\n");
  EXPECT_EQ(calls, 0);

  spec.pre_exec = [](void*) { return EPERM; };
  const auto refused = spawn(spec);
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().failure, SpawnFailure::Setup);
  EXPECT_EQ(refused.error().error.sys_errno, EPERM);
}

TEST(Spawn, a_child_killed_before_exec_is_no_success) {
  SpawnSpec spec = argv_spec({"true"});
  spec.pre_exec = [](void*) { return ::raise(SIGKILL); };
  const auto spawned = spawn(spec);
  ASSERT_FALSE(spawned);
  EXPECT_THAT(spawned.error().error.message, HasSubstr("killed before"));
}

TEST(Spawn, limits_are_in_force) {
  SpawnSpec spec = shell_spec("ulimit -n", Provider::Pipe);
  spec.limits = {{RLIMIT_NOFILE, {77, 77}}};
  EXPECT_EQ(run(spec).out, "77\n");
}

TEST(Spawn, says_when_there_is_no_terminal_to_be_had) {
  const PtyOpener none = [](const WindowSize&) {
    return base::fail_errno(ENOSPC, "opening a pseudo terminal");
  };
  const auto refused = spawn(shell_spec("echo hi"), none);
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().failure, SpawnFailure::NoPty);
}

TEST(SpawnLimits, out_of_descriptors_is_an_error_at_every_number_of_them) {
  // In a process of its own, because the limit holds for all of it.
  const pid_t pid = ::fork();
  if (pid == 0) {
    int worked = 0;
    const auto base = static_cast<rlim_t>(::dup(0));
    for (rlim_t allowed = base; allowed < base + 12; ++allowed) {
      const rlimit limit{allowed, 4096};
      ::setrlimit(RLIMIT_NOFILE, &limit);
      for (const Provider provider : {Provider::Pty, Provider::Pipe}) {
        auto spawned = spawn(shell_spec("exit 0", provider));
        if (!spawned && spawned.error().failure != SpawnFailure::Exhausted) ::_exit(1);
        if (!spawned) continue;
        ++worked;
        if (!wait_for_exit(spawned->child)) ::_exit(2);
      }
    }
    ::_exit(worked >= 4 ? 0 : 3);
  }
  int status = 0;
  ASSERT_EQ(::waitpid(pid, &status, 0), pid);
  EXPECT_EQ(status, 0);
}

TEST(SpawnMany, two_hundred_at_once_each_with_its_own_result) {
  std::vector<std::unique_ptr<Running>> all;
  for (int i = 0; i < 200; ++i) {
    const Provider provider = i % 2 == 0 ? Provider::Pty : Provider::Pipe;
    auto spawned =
        spawn(shell_spec("read x < /dev/null; echo " + std::to_string(i) + "; exit " + std::to_string(i),
                         provider, "/bin/dash"));
    ASSERT_TRUE(spawned) << spawned.error().error.message;
    all.push_back(std::make_unique<Running>(std::move(*spawned)));
  }
  for (int i = 0; i < 200; ++i) {
    Running& one = *all[static_cast<size_t>(i)];
    const int fd = one->provider == Provider::Pty ? one->master.get() : one->stdout_fd.get();
    EXPECT_EQ(std::atoi(read_all(fd).c_str()), i);
    const auto exit = wait_for_exit(one->child);
    ASSERT_TRUE(exit);
    EXPECT_EQ(exit->status.code, i);
  }
}

TEST(SpawnMany, two_thousand_in_a_row_leave_no_descriptor_behind) {
  const size_t before = open_descriptors();
  for (int i = 0; i < 2000; ++i) {
    SpawnSpec spec = argv_spec({i % 10 == 9 ? "no-such-program-here" : "/bin/true"});
    spec.provider = i % 2 == 0 ? Provider::Pty : Provider::Pipe;
    auto spawned = spawn(spec);
    ASSERT_EQ(spawned.has_value(), i % 10 != 9);
    if (spawned) {
      const auto exit = wait_for_exit(spawned->child);
      ASSERT_TRUE(exit && exit->status.success());
    }
  }
  EXPECT_EQ(open_descriptors(), before);
}

TEST(SpawnMany, several_threads_at_once) {
  std::vector<std::thread> threads;
  std::atomic<int> right = 0;
  for (int t = 0; t < 4; ++t)
    threads.emplace_back([&right, t] {
      for (int i = 0; i < 25; ++i) {
        const Outcome outcome =
            run(shell_spec("exit " + std::to_string(t * 25 + i), Provider::Pipe, "/bin/dash"));
        if (outcome.exit && outcome.exit->status.code == t * 25 + i) ++right;
      }
    });
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(right, 100);
}

// In a process of its own: a session cannot be left again.
TEST(Spawn, what_a_command_leaves_behind_outlives_it_only_in_the_session_of_the_caller) {
  for (const Session session : {Session::Own, Session::Ours}) {
    const pid_t leader = ::fork();
    ASSERT_NE(leader, -1);
    if (leader == 0) {
      ::setsid();
      SpawnSpec spec = shell_spec(
          "{ trap 'echo hung up; exit' HUP; echo begun; while :; do sleep 0.1; done; } & "
          "read line; kill -HUP $$; echo unreached");
      spec.session = session;
      auto spawned = spawn(spec);
      if (!spawned) ::_exit(3);
      Running running(std::move(*spawned));
      std::string seen;
      const auto read_until = [&](std::string_view wanted) {
        char buffer[4096];
        while (seen.find(wanted) == std::string::npos) {
          pollfd ready{running->master.get(), POLLIN, 0};
          if (::poll(&ready, 1, 1500) <= 0) return false;
          const ssize_t n = ::read(running->master.get(), buffer, sizeof buffer);
          if (n <= 0) return false;
          seen.append(buffer, static_cast<size_t>(n));
        }
        return true;
      };
      if (!read_until("begun")) ::_exit(4);
      if (::write(running->master.get(), "x\n", 2) != 2) ::_exit(5);
      const bool hung_up = read_until("hung up");
      const bool default_disposition = seen.find("unreached") == std::string::npos;
      ::kill(-running->child.pid(), SIGKILL);
      ::_exit(!default_disposition ? 6 : hung_up == (session == Session::Own) ? 0 : 7);
    }
    int status = 0;
    ASSERT_EQ(::waitpid(leader, &status, 0), leader);
    EXPECT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) == 0) << status << " " << int(session);
  }
}

}  // namespace
}  // namespace ttyward::pty
