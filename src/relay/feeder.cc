#include "relay/feeder.h"

#include <fcntl.h>
#include <poll.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <string_view>

#include "base/private_folder.h"
#include "hold/codec.h"
#include "io/local_socket.h"

namespace ttyward::relay {
namespace {

constexpr uint32_t kMostAtOnce = 1 << 20;

std::string socket_file(const std::string& id) {
  return id + ".stdin";
}

bool read_exactly(int fd, void* into, size_t bytes) {
  auto* at = static_cast<char*>(into);
  while (bytes > 0) {
    const ssize_t got = ::recv(fd, at, bytes, 0);
    if (got < 0 && errno == EINTR) continue;
    if (got <= 0) return false;
    at += got;
    bytes -= static_cast<size_t>(got);
  }
  return true;
}

// False: nobody can read it any more.
bool write_all(int fd, std::string_view bytes) {
  while (!bytes.empty()) {
    const ssize_t n = ::write(fd, bytes.data(), bytes.size());
    if (n < 0 && errno == EINTR) continue;
    if (n <= 0) return false;
    bytes.remove_prefix(static_cast<size_t>(n));
  }
  return true;
}

void tell(int client, uint64_t taken) {
  static_cast<void>(::send(client, &taken, sizeof taken, MSG_NOSIGNAL));
}

enum class Fed : uint8_t { ClientGone, Ended };

Fed serve(int client, int pipe, uint64_t& taken) {
  tell(client, taken);
  for (;;) {
    pollfd entries[2] = {{client, POLLIN, 0}, {pipe, 0, 0}};
    if (::poll(entries, 2, -1) < 0 && errno != EINTR) return Fed::Ended;
    if (entries[1].revents != 0) return Fed::Ended;
    if (entries[0].revents == 0) continue;
    uint64_t offset = 0;
    uint32_t length = 0;
    if (!read_exactly(client, &offset, sizeof offset) || !read_exactly(client, &length, sizeof length) ||
        length > kMostAtOnce) {
      return Fed::ClientGone;
    }
    std::string bytes(length, '\0');
    if (!read_exactly(client, bytes.data(), length)) return Fed::ClientGone;
    // What was taken from a relay that is gone is sent again by the next.
    const uint64_t known = taken > offset ? taken - offset : 0;
    if (offset > taken) return Fed::ClientGone;
    if (length == 0) return Fed::Ended;
    if (known < length) {
      if (!write_all(pipe, std::string_view(bytes).substr(known))) return Fed::Ended;
      taken = offset + length;
    }
    tell(client, taken);
  }
}

[[noreturn]] void feed(int listener, int pipe, int folder, const std::string& file) {
  uint64_t taken = 0;
  for (;;) {
    pollfd entries[2] = {{listener, POLLIN, 0}, {pipe, 0, 0}};
    if (::poll(entries, 2, -1) < 0 && errno != EINTR) break;
    if (entries[1].revents != 0) break;
    if (entries[0].revents == 0) continue;
    const base::UniqueFd client(::accept4(listener, nullptr, nullptr, SOCK_CLOEXEC));
    if (client && serve(client.get(), pipe, taken) == Fed::Ended) break;
  }
  ::unlinkat(folder, file.c_str(), 0);
  ::_exit(0);
}

}  // namespace

base::Result<base::UniqueFd> start_feeder(const std::string& sockets, const std::string& id) {
  auto folder = base::open_private_folder(sockets, base::IfMissing::Create);
  if (!folder) return tl::unexpected(folder.error());
  int ends[2];
  if (::pipe2(ends, O_CLOEXEC) != 0) return base::fail_errno(errno, "cannot make a pipe");
  base::UniqueFd read_end(ends[0]);
  const base::UniqueFd write_end(ends[1]);
  const std::string file = socket_file(id);
  const auto listener = io::listen_in(folder->get(), file, file, 4, io::Blocking::Yes);
  if (!listener) return tl::unexpected(listener.error());
  const pid_t child = ::fork();
  if (child < 0) return base::fail_errno(errno, "cannot start a process for the standard input");
  if (child > 0) {
    // It only forks: the feeder itself is nobody's child.
    while (::waitpid(child, nullptr, 0) < 0 && errno == EINTR) {
    }
    return read_end;
  }
  if (::fork() != 0) ::_exit(0);
  ::setsid();
  ::signal(SIGPIPE, SIG_IGN);
  // Not the relay's stream, nor the end that the command reads.
  const int keep[] = {listener->get(), write_end.get(), folder->get()};
  for (int fd = 0; fd < 1024; fd++) {
    if (fd != keep[0] && fd != keep[1] && fd != keep[2]) ::close(fd);
  }
  feed(listener->get(), write_end.get(), folder->get(), file);
}

base::Result<base::UniqueFd> connect_feeder(const std::string& sockets, const std::string& id) {
  auto folder = base::open_private_folder(sockets, base::IfMissing::Fail);
  if (!folder) return tl::unexpected(folder.error());
  return io::connect_in(folder->get(), socket_file(id), "the standard input of " + id + " has ended");
}

}  // namespace ttyward::relay
