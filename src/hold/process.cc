#include "hold/process.h"

#include <fcntl.h>
#include <sys/signalfd.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <csignal>
#include <memory>
#include <utility>

#include "hold/holder.h"
#include "hold/launch.h"
#include "hold/server.h"
#include "io/poller.h"
#include "journal/blank.h"
#include "pty/pseudo_terminal.h"

namespace ttyward::hold {
namespace {

using Clock = Holder::Clock;

// How long the end of a command is offered to clients that do not read it. The
// journal has it anyway.
constexpr std::chrono::seconds kLinger{2};
// An idle holder of a pool may wait long for its request; when the pool's owner
// ends, the socket closes, and so it ends too.
constexpr std::chrono::hours kIdle{24 * 365};

void ignore_signals() {
  // Signals from a terminal, a broken pipe or a limit must not end the holder.
  for (const int number :
       {SIGHUP, SIGINT, SIGQUIT, SIGPIPE, SIGTSTP, SIGTTIN, SIGTTOU, SIGXFSZ, SIGUSR1, SIGUSR2}) {
    ::signal(number, SIG_IGN);
  }
}

// The control socket moves away from stdin, and stdio becomes /dev/null.
int detach_stdio() {
  const int control = ::fcntl(STDIN_FILENO, F_DUPFD_CLOEXEC, 3);
  const int null = ::open("/dev/null", O_RDWR | O_CLOEXEC);
  if (null < 0) return control;  // no descriptors left: the start fails soon enough, with a reason
  for (int fd = 0; fd <= 2; ++fd) ::dup2(null, fd);
  if (null > 2) ::close(null);
  return control;
}

// SIGTERM: the machine shuts down, or a person sent it. The command is ended in
// good order and the journal says why.
class StopRequest final : public io::Poller::Handler {
 public:
  explicit StopRequest(Holder& holder) : holder_(holder) {
    sigset_t set;
    sigemptyset(&set);
    sigaddset(&set, SIGTERM);
    ::sigprocmask(SIG_BLOCK, &set, nullptr);
    fd_.reset(::signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK));
  }
  int fd() const { return fd_.get(); }
  void on_ready(int fd, uint32_t /*events*/) override {
    signalfd_siginfo info{};
    while (::read(fd, &info, sizeof info) == sizeof info) {
    }
    holder_.terminate({}, journal::EndReason::HolderStopped, Clock::now());
  }

 private:
  Holder& holder_;
  base::UniqueFd fd_;
};

int milliseconds_until(std::optional<Clock::time_point> deadline) {
  if (!deadline) return -1;
  const auto left = std::chrono::ceil<std::chrono::milliseconds>(*deadline - Clock::now()).count();
  return left > 0 ? static_cast<int>(left) : 0;
}

void hold(io::Poller& poller, Holder& holder, Server& server) {
  while (!holder.closed()) {
    poller.wait(milliseconds_until(holder.deadline()));
    holder.turn(Clock::now());
  }
  const auto until = Clock::now() + kLinger;
  while (server.has_unsent() && Clock::now() < until) poller.wait(milliseconds_until(until));
}

LaunchReply failed(pty::SpawnError error) {
  LaunchReply reply;
  reply.error = std::move(error);
  return reply;
}

LaunchReply failed(const base::Error& error) {
  return failed({pty::SpawnFailure::Setup, error});
}

// Forks a holder for every control socket that arrives, until the owner is gone. Returns in each holder with
// its socket, and in the fork server itself at the end without one.
base::UniqueFd serve_forks(const base::UniqueFd& control) {
  ::signal(SIGCHLD, SIG_IGN);  // their exit statuses are not needed
  for (;;) {
    base::UniqueFd childs;
    if (!receive_message(control.get(), kIdle, &childs)) return {};
    if (!childs.valid() || ::fork() != 0)
      continue;  // if the fork failed, the waiting side sees its socket close
    ::signal(SIGCHLD, SIG_DFL);
    ::setsid();
    return childs;
  }
}

// What an idle holder has made ahead. Parts that could not be had are made, or fail with a reason, at the
// launch.
struct Ready {
  HolderFolders folders;
  std::shared_ptr<journal::Folder> folder;
  std::unique_ptr<Server> server;
  Prepared prepared;
};

Ready get_ready(io::Poller& poller, HolderFolders folders) {
  Ready ready;
  ready.folders = std::move(folders);
  auto folder = journal::Folder::open(ready.folders.journals, ready.folders.total_quota);
  if (!folder) return ready;
  ready.folder = std::move(*folder);
  if (auto server = Server::prepare(poller, ready.folders.sockets)) ready.server = std::move(*server);
  if (auto blank = journal::Blank::make(*ready.folder)) ready.prepared.journal = std::move(*blank);
  if (auto terminal = pty::open_pseudo_terminal({})) ready.prepared.terminal = std::move(*terminal);
  return ready;
}

int run(base::UniqueFd control) {
  base::UniqueFd stdin_fd;
  auto message = receive_message(control.get(), kIdle, &stdin_fd);
  if (message == kForkServerMessage) {
    control = serve_forks(control);
    if (!control.valid()) return 0;
    message = receive_message(control.get(), kIdle, &stdin_fd);
  }
  auto poller = io::Poller::create();
  Ready ready;
  while (message) {
    auto folders = HolderFolders::decode_prepare(*message);
    if (!folders) break;
    ready = Ready{};  // its socket goes before another is made under the same name
    if (poller) ready = get_ready(*poller, std::move(*folders));
    message = receive_message(control.get(), kIdle, &stdin_fd);
  }
  if (!message) return 0;
  const auto answer = [&control](const LaunchReply& reply) {
    send_message(control.get(), reply.encode());
    control.reset();
    return reply.error ? 1 : 0;
  };
  auto request = LaunchRequest::decode(*message);
  if (!request || stdin_fd.valid() != (request->hold.spawn.stdin_kind == pty::StdinKind::Descriptor)) {
    return answer(
        failed(base::Error{base::ErrorCode::InvalidArgument, 0, "the launch request is malformed"}));
  }
  request->hold.spawn.stdin_fd = stdin_fd.get();
  if (!poller) return answer(failed(poller.error()));
  if (ready.folders != *request) ready = Ready{};
  if (!ready.folder) {
    auto folder = journal::Folder::open(request->journals, request->total_quota);
    if (!folder) return answer(failed(folder.error()));
    ready.folder = std::move(*folder);
  }
  if (ready.server && !ready.server->take_name(request->hold.journal.id)) ready.server.reset();
  if (!ready.server) {
    auto server = Server::listen(*poller, request->sockets, request->hold.journal.id);
    if (!server) return answer(failed(server.error()));
    ready.server = std::move(*server);
  }
  Server& server = *ready.server;
  auto holder = Holder::start(*poller, ready.folder, std::move(request->hold), Scope::OwnProcess,
                              std::move(ready.prepared));
  if (!holder) {
    ready.server
        .reset();  // its socket first: after the failure is reported, the id may be used again at once
    return answer(failed(holder.error()));
  }
  stdin_fd.reset();  // only the command has it now, so a writer sees when the command closes it
  server.serve(**holder);
  StopRequest stop(**holder);
  static_cast<void>(poller->add(stop.fd(), EPOLLIN, stop));

  LaunchReply reply;
  reply.holder = ::getpid();
  reply.child = (*holder)->child_pid();
  reply.provider = (*holder)->provider();
  reply.fallback_reason = (*holder)->fallback_reason();
  answer(reply);  // the starter may be gone: that changes nothing
  hold(*poller, **holder, server);
  return 0;
}

}  // namespace

int hold_process() {
  const pid_t child = ::fork();
  if (child < 0) return 1;
  if (child > 0) ::_exit(0);
  ::setsid();
  ignore_signals();
  ::umask(077);
  if (::chdir("/") != 0) return 1;
  return run(base::UniqueFd(detach_stdio()));
}

}  // namespace ttyward::hold
