#include "cli/doctor/probe.h"

#include <poll.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <cstdlib>

namespace ttyward::cli::doctor {
namespace {

constexpr size_t kMostOutput = 64 * 1024;

using Clock = std::chrono::steady_clock;

int left_ms(Clock::time_point deadline) {
  const auto left = std::chrono::duration_cast<std::chrono::milliseconds>(deadline - Clock::now()).count();
  return left > 0 ? static_cast<int>(left) : 0;
}

// Reads what is there. False at the end of the stream.
bool read_some(int fd, std::string& into) {
  char buffer[4096];
  const ssize_t n = ::read(fd, buffer, sizeof buffer);
  if (n < 0) return errno == EAGAIN || errno == EINTR;
  if (into.size() < kMostOutput) into.append(buffer, static_cast<size_t>(n));
  return n > 0;
}

}  // namespace

std::vector<std::string> probe_environment() {
  const char* path = std::getenv("PATH");
  return {std::string("PATH=") + (path != nullptr ? path : "/usr/bin:/bin"), "LC_ALL=C.UTF-8",
          "HOME=/nonexistent", "TERM=dumb"};
}

void end_probe(pty::Child& child) {
  if (child.exit()) return;
  if (auto done = child.try_reap(); !done || *done) return;
  if (!child.signal(SIGKILL)) return;
  pollfd entry{child.pidfd(), POLLIN, 0};
  while (::poll(&entry, 1, static_cast<int>(kProbePatience.count())) < 0 && errno == EINTR) {
  }
  (void)child.try_reap();
}

ProbeResult run_probe(std::vector<std::string> argv, pty::PreExecHook hook) {
  ProbeResult result;
  pty::SpawnSpec spec;
  spec.argv = std::move(argv);
  spec.provider = pty::Provider::Pipe;
  spec.environment = probe_environment();
  spec.cwd = "/";
  spec.pre_exec = hook;
  auto spawned = pty::spawn(spec);
  if (!spawned) {
    result.problem = spawned.error().error.message;
    result.sys_errno = spawned.error().error.sys_errno;
    return result;
  }
  const auto deadline = Clock::now() + kProbePatience;
  pollfd entries[] = {{spawned->stdout_fd.get(), POLLIN, 0},
                      {spawned->stderr_fd.get(), POLLIN, 0},
                      {spawned->child.pidfd(), POLLIN, 0}};
  // Until it has ended; what it left in the pipes by then is all it had to say.
  while (left_ms(deadline) > 0) {
    if (::poll(entries, 3, left_ms(deadline)) < 0 && errno != EINTR) break;
    for (int i = 0; i < 2; ++i)
      if (entries[i].revents != 0 && !read_some(entries[i].fd, result.output)) entries[i].fd = -1;
    if (entries[2].revents != 0 && entries[0].revents == 0 && entries[1].revents == 0) break;
  }
  if (auto done = spawned->child.try_reap(); done && *done) result.status = (*done)->status;
  end_probe(spawned->child);
  return result;
}

}  // namespace ttyward::cli::doctor
