#include "sandbox/relay.h"

#include <fcntl.h>
#include <netinet/in.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

#include "sandbox/plan.h"

namespace ttyward::sandbox {

bool Relay::listen() {
  void* const memory = ::mmap(nullptr, kMostConnections * 2 * kBuffer, PROT_READ | PROT_WRITE,
                              MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (memory == MAP_FAILED) return false;
  memory_ = static_cast<char*>(memory);
  listener_ = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
  if (listener_ < 0) return false;
  const int yes = 1;
  ::setsockopt(listener_, SOL_SOCKET, SO_REUSEADDR, &yes, sizeof yes);
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_port = htons(kProxyPort);
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  return ::bind(listener_, reinterpret_cast<const sockaddr*>(&address), sizeof address) == 0 &&
         ::listen(listener_, 64) == 0;
}

void Relay::accept_one() {
  for (size_t i = 0; i < kMostConnections; ++i) {
    Connection& free = connections_[i];
    if (free.ends[0] >= 0) continue;
    const int program = ::accept4(listener_, nullptr, nullptr, SOCK_CLOEXEC | SOCK_NONBLOCK);
    if (program < 0) return;
    const int proxy = ::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    sockaddr_un address{};
    address.sun_family = AF_UNIX;
    std::memcpy(address.sun_path, kProxySocket, sizeof kProxySocket);
    if (proxy < 0 || ::connect(proxy, reinterpret_cast<const sockaddr*>(&address), sizeof address) != 0) {
      ::close(program);
      if (proxy >= 0) ::close(proxy);
      return;
    }
    ::fcntl(proxy, F_SETFL, O_NONBLOCK);
    free = Connection{};
    free.ends[0] = program;
    free.ends[1] = proxy;
    for (size_t way = 0; way < 2; ++way) free.ways[way].bytes = memory_ + (2 * i + way) * kBuffer;
    return;
  }
}

size_t Relay::wait_for(pollfd* waits) {
  size_t count = 0;
  if (listener_ < 0) return 0;
  bool room = false;
  for (size_t i = 0; i < kMostConnections; ++i) {
    const Connection& connection = connections_[i];
    if (connection.ends[0] < 0) {
      room = true;
      continue;
    }
    for (size_t end = 0; end < 2; ++end) {
      const Way& from = connection.ways[end];
      const Way& to = connection.ways[1 - end];
      short events = 0;
      if (!from.closed && from.end < kBuffer) events |= POLLIN;
      if (to.end > to.begin) events |= POLLOUT;
      waits[count] = {events == 0 ? -1 : connection.ends[end], events, 0};
      waiting_[count++] = static_cast<uint8_t>(i);
    }
  }
  if (room) {
    waits[count] = {listener_, POLLIN, 0};
    waiting_[count++] = kMostConnections;
  }
  return count;
}

void Relay::turn(const pollfd* waits, size_t count) {
  for (size_t i = 0; i < count; ++i) {
    if (waits[i].revents == 0) continue;
    if (waiting_[i] == kMostConnections) {
      accept_one();
    } else if (connections_[waiting_[i]].ends[0] >= 0) {
      move(connections_[waiting_[i]]);
    }
  }
}

void Relay::move(Connection& connection) {
  for (size_t i = 0; i < 2; ++i) {
    Way& way = connection.ways[i];
    const int from = connection.ends[i];
    const int to = connection.ends[1 - i];
    if (!way.closed && way.end < kBuffer) {
      const ssize_t got = ::read(from, way.bytes + way.end, kBuffer - way.end);
      if (got > 0) way.end += static_cast<size_t>(got);
      if (got == 0 || (got < 0 && errno != EAGAIN && errno != EINTR)) way.closed = true;
    }
    if (way.end > way.begin) {
      const ssize_t sent = ::send(to, way.bytes + way.begin, way.end - way.begin, MSG_NOSIGNAL);
      if (sent > 0) way.begin += static_cast<size_t>(sent);
      if (sent < 0 && errno != EAGAIN && errno != EINTR) return close(connection);
      if (way.begin == way.end) way.begin = way.end = 0;
    }
    if (way.closed && way.begin == way.end && !way.finished) {
      way.finished = true;
      ::shutdown(to, SHUT_WR);
    }
  }
  if (connection.ways[0].finished && connection.ways[1].finished) close(connection);
}

void Relay::close(Connection& connection) {
  for (int& end : connection.ends) {
    ::close(end);
    end = -1;
  }
}

}  // namespace ttyward::sandbox
