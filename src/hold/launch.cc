#include "hold/launch.h"

#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <cstring>
#include <utility>

namespace ttyward::hold {

namespace {

using Clock = std::chrono::steady_clock;

// A message whose beginning is there is sent whole by one call: the rest comes at once or never.
constexpr std::chrono::milliseconds kWholeMessage{100};

bool wait_for(int fd, short events, Clock::time_point until) {
  for (;;) {
    const auto left = std::chrono::ceil<std::chrono::milliseconds>(until - Clock::now()).count();
    if (left <= 0) return false;
    pollfd entry{fd, events, 0};
    const int ready = ::poll(&entry, 1, static_cast<int>(left));
    if (ready > 0) return true;
    if (ready == 0 || errno != EINTR) return false;
  }
}

// Room for the one descriptor that a message may bring.
union PassedDescriptor {
  char bytes[CMSG_SPACE(sizeof(int))];
  cmsghdr aligned;
};

ssize_t receive_some(int fd, char* into, size_t bytes, base::UniqueFd* passed) {
  PassedDescriptor control{};
  iovec part{into, bytes};
  msghdr message{};
  message.msg_iov = &part;
  message.msg_iovlen = 1;
  message.msg_control = control.bytes;
  message.msg_controllen = sizeof control.bytes;
  const ssize_t got = ::recvmsg(fd, &message, MSG_DONTWAIT | MSG_CMSG_CLOEXEC);
  const cmsghdr* const header = got > 0 ? CMSG_FIRSTHDR(&message) : nullptr;
  if (header != nullptr && header->cmsg_level == SOL_SOCKET && header->cmsg_type == SCM_RIGHTS &&
      header->cmsg_len == CMSG_LEN(sizeof(int))) {
    int number = -1;
    std::memcpy(&number, CMSG_DATA(header), sizeof number);
    base::UniqueFd owned(number);
    if (passed != nullptr) *passed = std::move(owned);
  }
  return got;
}

ssize_t send_some(int fd, const char* from, size_t bytes, int pass) {
  PassedDescriptor control{};
  iovec part{const_cast<char*>(from), bytes};
  msghdr message{};
  message.msg_iov = &part;
  message.msg_iovlen = 1;
  if (pass >= 0) {
    message.msg_control = control.bytes;
    message.msg_controllen = sizeof control.bytes;
    cmsghdr* const header = CMSG_FIRSTHDR(&message);
    header->cmsg_level = SOL_SOCKET;
    header->cmsg_type = SCM_RIGHTS;
    header->cmsg_len = CMSG_LEN(sizeof pass);
    std::memcpy(CMSG_DATA(header), &pass, sizeof pass);
  }
  return ::sendmsg(fd, &message, MSG_NOSIGNAL | MSG_DONTWAIT);
}

bool receive_exactly(int fd, char* into, size_t bytes, Clock::time_point until, base::UniqueFd* passed) {
  while (bytes > 0) {
    if (!wait_for(fd, POLLIN, until)) return false;
    const ssize_t got = receive_some(fd, into, bytes, passed);
    if (got == 0) return false;
    if (got < 0) {
      if (errno == EINTR || errno == EAGAIN) continue;
      return false;
    }
    into += got;
    bytes -= static_cast<size_t>(got);
  }
  return true;
}

struct ControlPair {
  base::UniqueFd ours;
  base::UniqueFd theirs;
};

tl::expected<ControlPair, pty::SpawnError> make_control() {
  int ends[2];
  if (::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) != 0) {
    const auto error = base::fail_errno(errno, "cannot make a socket pair");
    return tl::unexpected(pty::SpawnError{pty::SpawnFailure::Exhausted, error.value()});
  }
  return ControlPair{base::UniqueFd(ends[0]), base::UniqueFd(ends[1])};
}

pty::SpawnError setup(std::string message) {
  return {pty::SpawnFailure::Setup, base::Error{base::ErrorCode::Unavailable, 0, std::move(message)}};
}

}  // namespace

std::optional<std::string> receive_message(int fd, std::chrono::milliseconds patience,
                                           base::UniqueFd* passed) {
  const auto until = Clock::now() + patience;
  uint32_t size = 0;
  if (!receive_exactly(fd, reinterpret_cast<char*>(&size), sizeof size, until, passed)) return std::nullopt;
  if (size > kLargestLaunchMessage) return std::nullopt;
  std::string message(size, '\0');
  if (!receive_exactly(fd, message.data(), size, until, passed)) return std::nullopt;
  return message;
}

bool send_message(int fd, std::string_view message, int pass) {
  const auto size = static_cast<uint32_t>(message.size());
  std::string framed(reinterpret_cast<const char*>(&size), sizeof size);
  framed.append(message);
  // The descriptor travels with the first byte only: a second sendmsg() would send it twice.
  const auto until = Clock::now() + kLaunchPatience;
  for (size_t sent = 0; sent < framed.size();) {
    if (!wait_for(fd, POLLOUT, until)) return false;
    const ssize_t n = send_some(fd, framed.data() + sent, framed.size() - sent, sent == 0 ? pass : -1);
    if (n > 0) {
      sent += static_cast<size_t>(n);
    } else if (n < 0 && errno != EINTR && errno != EAGAIN) {
      return false;
    }
  }
  return true;
}

tl::expected<IdleHolder, pty::SpawnError> IdleHolder::start(const std::string& program) {
  auto pair = make_control();
  if (!pair) return tl::unexpected(pair.error());
  auto& [ours, theirs] = *pair;
  pty::SpawnSpec spec;
  spec.argv = {program};
  spec.provider = pty::Provider::Pipe;
  spec.stdin_kind = pty::StdinKind::Descriptor;
  spec.stdin_fd = theirs.get();
  auto spawned = pty::spawn(spec);
  if (!spawned) return tl::unexpected(spawned.error());
  // The first process only forks and ends; the holder itself is not our child.
  if (!wait_for(spawned->child.pidfd(), POLLIN, Clock::now() + kLaunchPatience)) {
    static_cast<void>(spawned->child.signal(SIGKILL));
    return tl::unexpected(setup(program + " did not get ready"));
  }
  const auto exit = spawned->child.try_reap();
  if (!exit || !*exit || !(*exit)->status.success()) {
    return tl::unexpected(setup(program + " could not start in the background"));
  }
  return IdleHolder(std::move(ours));
}

void IdleHolder::prepare(const HolderFolders& folders) {
  static_cast<void>(send_message(control_.get(), folders.encode_prepare()));
}

tl::expected<void, pty::SpawnError> IdleHolder::ask(const LaunchRequest& request) {
  const std::string message = request.encode();
  if (message.size() > kLargestLaunchMessage) {
    return tl::unexpected(pty::SpawnError{
        pty::SpawnFailure::BadRequest,
        base::Error{base::ErrorCode::InvalidArgument, 0, "the command is too long to be run"}});
  }
  const pty::SpawnSpec& spawn = request.hold.spawn;
  // Descriptor numbers mean nothing in the holder, so stdin travels as SCM_RIGHTS.
  const int pass = spawn.stdin_kind == pty::StdinKind::Descriptor ? spawn.stdin_fd : -1;
  if (!send_message(control_.get(), message, pass)) return tl::unexpected(setup("the holder is gone"));
  return {};
}

tl::expected<LaunchReply, pty::SpawnError> IdleHolder::answer(Answer when) && {
  const base::UniqueFd control = std::move(control_);
  const auto answer =
      receive_message(control.get(), when == Answer::IsThere ? kWholeMessage : kLaunchPatience);
  if (!answer) return tl::unexpected(setup("the holder died while it started the command"));
  auto reply = LaunchReply::decode(*answer);
  if (!reply) return tl::unexpected(setup("the holder is from a different version of ttyward"));
  if (reply->error) return tl::unexpected(*reply->error);
  return std::move(*reply);
}

tl::expected<LaunchReply, pty::SpawnError> IdleHolder::launch(const LaunchRequest& request) && {
  if (auto asked = ask(request); !asked) return tl::unexpected(asked.error());
  return std::move(*this).answer();
}

tl::expected<ForkServer, pty::SpawnError> ForkServer::start(const std::string& program) {
  auto idle = IdleHolder::start(program);
  if (!idle) return tl::unexpected(idle.error());
  if (!send_message(idle->control_.get(), kForkServerMessage))
    return tl::unexpected(setup("the holder is gone"));
  return ForkServer(std::move(idle->control_));
}

tl::expected<IdleHolder, pty::SpawnError> ForkServer::next() {
  auto pair = make_control();
  if (!pair) return tl::unexpected(pair.error());
  if (!send_message(control_.get(), kForkServerMessage, pair->theirs.get())) {
    return tl::unexpected(setup("the holders' fork server is gone"));
  }
  return IdleHolder(std::move(pair->ours));
}

tl::expected<LaunchReply, pty::SpawnError> launch(const std::string& program, const LaunchRequest& request) {
  auto idle = IdleHolder::start(program);
  if (!idle) return tl::unexpected(idle.error());
  return std::move(*idle).launch(request);
}

}  // namespace ttyward::hold
