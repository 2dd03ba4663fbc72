// What starting a command costs, beside the bare limit, in one run.
//
//   bench_spawn [REPETITIONS] [BALLAST_MB]
//
// Each line of output is a JSON object: `who` ran `command`, from the call to the
// collected exit with all output read. The kinds take turns, so that the
// machine's mood hits all of them alike. BALLAST_MB makes this process as large as
// a daemon is: fork pays for it, what shares memory does not.
#include <fcntl.h>
#include <poll.h>
#include <pty.h>
#include <spawn.h>
#include <sys/ioctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <string>
#include <vector>

#include "pty/run_state.h"
#include "pty/spawn.h"

namespace {

using namespace ttyward;
using Clock = std::chrono::steady_clock;

struct Command {
  const char* name;
  std::vector<std::string> argv;
};

const std::vector<std::string> kEnvironment = {"PATH=/usr/local/bin:/usr/bin:/bin", "LANG=C.UTF-8",
                                               "TERM=xterm-256color"};

std::vector<char*> pointers(const std::vector<std::string>& strings) {
  std::vector<char*> result;
  for (const std::string& s : strings) result.push_back(const_cast<char*>(s.c_str()));
  result.push_back(nullptr);
  return result;
}

void read_to_end(int fd) {
  char buffer[65536];
  while (true) {
    const ssize_t n = ::read(fd, buffer, sizeof buffer);
    if (n > 0) continue;
    if (n == 0 || errno != EAGAIN) return;
    pollfd entry{fd, POLLIN, 0};
    ::poll(&entry, 1, -1);
  }
}

void bare_terminal(const Command& command) {
  const int master = ::posix_openpt(O_RDWR | O_NOCTTY | O_CLOEXEC);
  ::grantpt(master);
  ::unlockpt(master);
  char name[64];
  ::ptsname_r(master, name, sizeof name);
  const winsize size{24, 80, 0, 0};
  ::ioctl(master, TIOCSWINSZ, &size);
  posix_spawn_file_actions_t actions;
  posix_spawnattr_t attributes;
  ::posix_spawn_file_actions_init(&actions);
  ::posix_spawnattr_init(&attributes);
  ::posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSID);
  ::posix_spawn_file_actions_addopen(&actions, 0, name, O_RDWR, 0);
  ::posix_spawn_file_actions_adddup2(&actions, 0, 1);
  ::posix_spawn_file_actions_adddup2(&actions, 0, 2);
  pid_t pid = -1;
  ::posix_spawn(&pid, command.argv[0].c_str(), &actions, &attributes, pointers(command.argv).data(),
                pointers(kEnvironment).data());
  ::posix_spawn_file_actions_destroy(&actions);
  ::posix_spawnattr_destroy(&attributes);
  read_to_end(master);
  ::waitpid(pid, nullptr, 0);
  ::close(master);
}

void forked_terminal(const Command& command) {
  const auto argv = pointers(command.argv);
  const auto envp = pointers(kEnvironment);
  const winsize size{24, 80, 0, 0};
  int master = -1;
  const pid_t pid = ::forkpty(&master, nullptr, nullptr, &size);
  if (pid == 0) {
    ::execve(argv[0], argv.data(), envp.data());
    ::_exit(127);
  }
  read_to_end(master);
  ::waitpid(pid, nullptr, 0);
  ::close(master);
}

void bare_pipes(const Command& command) {
  int out[2];
  int err[2];
  if (::pipe2(out, O_CLOEXEC) != 0 || ::pipe2(err, O_CLOEXEC) != 0) std::abort();
  posix_spawn_file_actions_t actions;
  ::posix_spawn_file_actions_init(&actions);
  ::posix_spawn_file_actions_addopen(&actions, 0, "/dev/null", O_RDONLY, 0);
  ::posix_spawn_file_actions_adddup2(&actions, out[1], 1);
  ::posix_spawn_file_actions_adddup2(&actions, err[1], 2);
  pid_t pid = -1;
  ::posix_spawn(&pid, command.argv[0].c_str(), &actions, nullptr, pointers(command.argv).data(),
                pointers(kEnvironment).data());
  ::posix_spawn_file_actions_destroy(&actions);
  ::close(out[1]);
  ::close(err[1]);
  read_to_end(out[0]);
  read_to_end(err[0]);
  ::waitpid(pid, nullptr, 0);
  ::close(out[0]);
  ::close(err[0]);
}

void collect(pty::Child& child) {
  pollfd entry{child.pidfd(), POLLIN, 0};
  ::poll(&entry, 1, -1);
  static_cast<void>(child.try_reap());
}

void ours(const Command& command, pty::Provider provider, pty::PreExecHook hook) {
  pty::SpawnSpec spec;
  spec.argv = command.argv;
  spec.environment = kEnvironment;
  spec.provider = provider;
  spec.pre_exec = hook;
  auto spawned = pty::spawn(spec);
  if (!spawned) {
    std::fprintf(stderr, "%s\n", spawned.error().error.message.c_str());
    std::exit(1);
  }
  if (provider == pty::Provider::Pty) {
    read_to_end(spawned->master.get());
  } else {
    read_to_end(spawned->stdout_fd.get());
    read_to_end(spawned->stderr_fd.get());
  }
  collect(spawned->child);
}

void report(const char* test, const char* who, const char* command, std::vector<double> us, double limit) {
  std::sort(us.begin(), us.end());
  std::printf(
      "{\"test\":\"%s\",\"who\":\"%s\",\"command\":\"%s\",\"n\":%zu,\"p50_us\":%.0f,\"p90_us\":%.0f,\"min_"
      "us\":%.0f",
      test, who, command, us.size(), us[us.size() / 2], us[us.size() * 9 / 10], us.front());
  if (limit > 0) std::printf(",\"p50_of_limit\":%.2f", us[us.size() / 2] / limit);
  std::printf("}\n");
}

double microseconds(Clock::time_point from) {
  return std::chrono::duration<double, std::micro>(Clock::now() - from).count();
}

double median(std::vector<double> values) {
  std::sort(values.begin(), values.end());
  return values[values.size() / 2];
}

void measure_starts(const Command& command, int repetitions) {
  struct Kind {
    const char* who;
    std::function<void()> run;
    size_t limit;  // index of the kind it is compared with
    std::vector<double> us;
  };
  const auto no_hook = [](void*) { return 0; };
  std::vector<Kind> kinds = {
      {"limit: posix_spawn, pty", [&] { bare_terminal(command); }, 0, {}},
      {"forkpty", [&] { forked_terminal(command); }, 0, {}},
      {"ttyward, pty", [&] { ours(command, pty::Provider::Pty, nullptr); }, 0, {}},
      {"ttyward, pty, with hook", [&] { ours(command, pty::Provider::Pty, no_hook); }, 0, {}},
      {"limit: posix_spawn, pipes", [&] { bare_pipes(command); }, 4, {}},
      {"ttyward, pipes", [&] { ours(command, pty::Provider::Pipe, nullptr); }, 4, {}},
  };
  for (int i = 0; i < repetitions; ++i)
    for (Kind& kind : kinds) {
      const auto start = Clock::now();
      kind.run();
      kind.us.push_back(microseconds(start));
    }
  for (const Kind& kind : kinds)
    report("start", kind.who, command.name, kind.us, median(kinds[kind.limit].us));
}

void measure_run_state(int repetitions) {
  pty::SpawnSpec spec;
  spec.argv = {"cat"};
  spec.environment = kEnvironment;
  auto spawned = pty::spawn(spec);
  if (!spawned) std::exit(1);
  pty::RunStateQuery query;
  query.leader = spawned->child.pid();
  query.master = spawned->master.get();
  query.slave_device = spawned->slave_device;
  std::vector<double> us;
  for (int i = 0; i < repetitions; ++i) {
    const auto start = Clock::now();
    static_cast<void>(pty::run_state(query));
    us.push_back(microseconds(start));
  }
  report("run_state", "ttyward", "cat", std::move(us), 0);
  static_cast<void>(spawned->child.signal(SIGKILL));
  collect(spawned->child);
}

}  // namespace

int main(int argc, char** argv) {
  const int repetitions = std::max(1, argc > 1 ? std::atoi(argv[1]) : 500);
  const std::vector<char> ballast(static_cast<size_t>(std::max(0, argc > 2 ? std::atoi(argv[2]) : 0)) << 20,
                                  1);
  measure_starts({"true", {"/bin/true"}}, repetitions);
  measure_starts({"bash -c true", {"/bin/bash", "-c", "true"}}, repetitions);
  measure_run_state(repetitions);
  return ballast.empty() || ballast.back() == 1 ? 0 : 1;
}
