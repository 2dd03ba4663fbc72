#include "acp/agent_process.h"

#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <utility>

#include "pty/spawn.h"

namespace ttyward::acp {

AgentProcess::AgentProcess(io::Loop& loop, pty::Child child, std::function<void()> ended)
    : loop_(loop), child_(std::move(child)), ended_(std::move(ended)) {}

base::Result<std::unique_ptr<AgentProcess>> AgentProcess::start(io::Loop& loop,
                                                                const std::vector<std::string>& argv,
                                                                std::vector<std::string> environment,
                                                                std::function<void()> ended) {
  pty::SpawnSpec spec;
  spec.argv = argv;
  spec.environment = std::move(environment);
  spec.provider = pty::Provider::Pipe;
  spec.stdin_kind = pty::StdinKind::Pipe;
  spec.parent_death_signal = SIGTERM;
  auto spawned = pty::spawn(spec);
  if (!spawned) return tl::unexpected(spawned.error().error);
  std::unique_ptr<AgentProcess> made(new AgentProcess(loop, std::move(spawned->child), std::move(ended)));
  made->stdin_ = std::move(spawned->stdin_fd);
  made->stdout_ = std::move(spawned->stdout_fd);
  made->stderr_ = std::move(spawned->stderr_fd);
  for (const int fd : {made->child_.pidfd(), made->stderr_.get()}) {
    if (auto added = loop.poller().add(fd, EPOLLIN, *made); !added) return tl::unexpected(added.error());
  }
  return made;
}

AgentProcess::~AgentProcess() {
  loop_.cancel(timer_);
  if (stderr_) loop_.poller().remove(stderr_.get());
  if (!ended_status_) loop_.poller().remove(child_.pidfd());
  signal_group(SIGKILL);
}

void AgentProcess::signal_group(int number) const {
  // A group's number stays taken while anybody is in it.
  if (!ended_status_ || others_left_) ::kill(-child_.pid(), number);
}

void AgentProcess::end() {
  signal_group(SIGTERM);
  loop_.cancel(timer_);
  timer_ = loop_.after(kGrace, [this] {
    timer_ = 0;
    signal_group(SIGKILL);
  });
}

void AgentProcess::on_ready(int fd, uint32_t) {
  if (fd == child_.pidfd()) return reap();
  pass_stderr();
}

void AgentProcess::reap() {
  // While the leader is not collected, its number means this group and no other.
  signal_group(SIGTERM);
  const auto exit = child_.try_reap();
  if (exit && !*exit) return;
  others_left_ = ::kill(-child_.pid(), 0) == 0;
  loop_.poller().remove(child_.pidfd());
  if (!exit) {
    ended_status_ = 1;
    words_ = "the agent ended; its exit code was lost";
  } else {
    ended_status_ = (*exit)->status.shell_code();
    words_ = "the agent ended: " + pty::describe((*exit)->status);
  }
  if (stderr_) pass_stderr();
  std::exchange(ended_, nullptr)();
}

void AgentProcess::pass_stderr() {
  char bytes[16 << 10];
  const ssize_t got = ::read(stderr_.get(), bytes, sizeof bytes);
  if (got < 0 && (errno == EAGAIN || errno == EINTR)) return;
  if (got > 0) {
    // Whoever started us reads it, as it would have read the agent's.
    static_cast<void>(!::write(STDERR_FILENO, bytes, static_cast<size_t>(got)));
    return;
  }
  loop_.poller().remove(stderr_.get());
  stderr_.reset();
}

}  // namespace ttyward::acp
