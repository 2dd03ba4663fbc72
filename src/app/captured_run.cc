#include "app/captured_run.h"

#include <poll.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>

namespace ttyward::app {

Captured captured_run(const pty::SpawnSpec& spec, std::chrono::milliseconds patience, size_t most, int stop) {
  Captured captured;
  auto spawned = pty::spawn(spec);
  if (!spawned) return captured;
  const auto until = std::chrono::steady_clock::now() + patience;
  bool reading = true;
  while (reading && captured.output.size() < most) {
    const auto left =
        std::chrono::ceil<std::chrono::milliseconds>(until - std::chrono::steady_clock::now()).count();
    pollfd ready[] = {
        {spawned->stdout_fd.get(), POLLIN, 0}, {spawned->stderr_fd.get(), POLLIN, 0}, {stop, POLLIN, 0}};
    if (left <= 0 || ::poll(ready, 3, static_cast<int>(left)) <= 0 || ready[2].revents != 0) break;
    char buffer[64 * 1024];
    if (ready[1].revents != 0 && ::read(ready[1].fd, buffer, sizeof buffer) == 0) spawned->stderr_fd.reset();
    if (ready[0].revents == 0) continue;
    const ssize_t n = ::read(ready[0].fd, buffer, sizeof buffer);
    if (n > 0) captured.output.append(buffer, static_cast<size_t>(n));
    reading = n > 0 || (n < 0 && (errno == EAGAIN || errno == EINTR));
  }
  siginfo_t info{};
  pty::ResourceUse use;
  const auto id = static_cast<id_t>(spawned->child.pid());
  if (!reading) {
    // Nobody can print any more: it is about to end, if it has not.
    pollfd end{spawned->child.pidfd(), POLLIN, 0};
    const auto left =
        std::chrono::ceil<std::chrono::milliseconds>(until - std::chrono::steady_clock::now()).count();
    captured.ended = left > 0 && ::poll(&end, 1, static_cast<int>(left)) == 1;
  }
  ::kill(-spawned->child.pid(), SIGKILL);  // it is ours until it is collected
  if (pty::wait_with_usage(P_PID, id, WEXITED, info, use) == 0 && info.si_code == CLD_EXITED)
    captured.exit_code = info.si_status;
  return captured;
}

}  // namespace ttyward::app
