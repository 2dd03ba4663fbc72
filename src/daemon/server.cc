#include "daemon/server.h"

#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <utility>

#include "base/ids.h"
#include "daemon/peer.h"

namespace ttyward::daemon {

using wire::CallError;
using wire::Code;

base::Result<std::unique_ptr<Server>> Server::listen(io::Loop& loop, Listener listener, CallHandler& handler,
                                                     io::Log& log, Limits limits) {
  const int fd = listener.socket.get();
  std::unique_ptr<Server> server(new Server(loop, std::move(listener), handler, log, limits));
  if (auto added = loop.poller().add(fd, EPOLLIN, *server); !added) return tl::unexpected(added.error());
  return server;
}

Server::Server(io::Loop& loop, Listener listener, CallHandler& handler, io::Log& log, Limits limits)
    : loop_(loop),
      handler_(handler),
      log_(log),
      limits_(limits),
      id_(base::random_id('d')),
      listener_(std::move(listener)) {}

Server::~Server() {
  *self_ = nullptr;
  close_listener();
  for (auto& [fd, connection] : connections_) {
    for (auto& [id, call] : connection->calls) {
      call.state->sink = nullptr;
      call.state->cancelled = nullptr;  // it may hold the responder, and so itself
    }
    loop_.cancel(connection->timer);
    loop_.poller().remove(fd);
  }
}

void Server::close_listener() {
  stopping_ = true;
  drop_listener();
}

void Server::dismiss_all(const wire::CallError& error) {
  // Collected first: answering a call removes it from the map.
  std::vector<Responder> open;
  for (const auto& [fd, connection] : connections_) {
    for (const auto& [id, call] : connection->calls) open.emplace_back(call.state);
  }
  for (const Responder& responder : open) responder.fail(error);
  const std::string line = wire::encode(wire::Failed{0, error});
  for (const auto& [fd, connection] : connections_) {
    if (connection->greeted && !connection->is_marked && !connection->is_ending) send_last(*connection, line);
  }
}

void Server::drop_listener() {
  if (!listener_.socket) return;
  loop_.poller().remove(listener_.socket.get());
  // Another daemon may have replaced the file by its own socket since.
  if (listener_.folder && listener_.file_is_ours()) {
    ::unlinkat(listener_.folder.get(), listener_.file.c_str(), 0);
  }
  listener_ = {};
}

base::Result<void> Server::replace_listener(Listener listener) {
  if (stopping_) return {};
  const int fd = listener.socket.get();
  // The new one listens before the old one goes, so that no client finds nobody listening.
  if (auto added = loop_.poller().add(fd, EPOLLIN, *this); !added) return added;
  drop_listener();
  listener_ = std::move(listener);
  return {};
}

Connection* Server::find(uint64_t number) {
  const auto found = by_number_.find(number);
  return found != by_number_.end() && !found->second->is_marked ? found->second : nullptr;
}

const Connection* Server::find(uint64_t number) const {
  return const_cast<Server*>(this)->find(number);
}

void Server::on_ready(int fd, uint32_t events) {
  if (fd == listener_.socket.get()) return accept_all();
  const auto found = connections_.find(fd);
  if (found == connections_.end() || found->second->is_marked) return;
  Connection& connection = *found->second;
  if ((events & EPOLLOUT) != 0) flush(connection);
  if (connection.is_marked) return;
  if ((events & EPOLLIN) != 0) {
    receive(connection);
    // Only without EPOLLIN: a client may send its last call and close, and the call still counts.
  } else if ((events & (EPOLLHUP | EPOLLERR)) != 0) {
    mark_for_removal(connection, "hung up");
  }
}

void Server::accept_all() {
  for (;;) {
    base::UniqueFd fd(::accept4(listener_.socket.get(), nullptr, nullptr, SOCK_CLOEXEC | SOCK_NONBLOCK));
    if (!fd && (errno == EINTR || errno == ECONNABORTED)) continue;
    if (!fd) break;
    admit(std::move(fd));
  }
  if (errno == EMFILE || errno == ENFILE || errno == ENOBUFS || errno == ENOMEM) {
    // The listener stays readable; without a pause this would be a busy loop.
    log_.error("cannot accept connections: no descriptors left", "socket");
    loop_.poller().change(listener_.socket.get(), 0, *this);
    loop_.after(std::chrono::milliseconds(100), [this, self = self_] {
      if (*self != nullptr && listener_.socket) {
        loop_.poller().change(listener_.socket.get(), EPOLLIN, *this);
      }
    });
  }
}

void Server::admit(base::UniqueFd fd) {
  Peer peer = peer_of(fd.get());
  if (!peer.same_user) {
    log_.warning("dropped a connection of another user, uid " + std::to_string(peer.uid) + " pid " +
                     std::to_string(peer.pid),
                 "socket", {{"uid", peer.uid}, {"pid", peer.pid}});
    return;
  }
  const int number = fd.get();
  if (connections_.size() >= limits_.connections) {
    const std::string line =
        wire::encode(wire::Failed{0,
                                  {Code::Exhausted, "the daemon has " + std::to_string(limits_.connections) +
                                                        " connections, which is the limit; close some"}});
    static_cast<void>(::send(number, line.data(), line.size(), MSG_NOSIGNAL));
    return;
  }
  auto connection = std::make_unique<Connection>();
  connection->fd = std::move(fd);
  connection->process = std::move(peer.process);
  connection->who.connection = ++last_number_;
  connection->who.pid = peer.pid;
  connection->in.set_largest(limits_.hello_bytes);
  connection->tokens = limits_.calls_per_second;
  connection->tokens_at = loop_.now();
  connection->watched = EPOLLIN;
  if (!loop_.poller().add(number, EPOLLIN, *this)) return;
  connection->timer = loop_.after(limits_.hello_patience, [this, id = last_number_] {
    if (Connection* silent = find(id)) {
      silent->timer = 0;
      reject(*silent, {Code::Unavailable, "the hello did not arrive in time"});
    }
  });
  by_number_[last_number_] = connection.get();
  connections_[number] = std::move(connection);
}

void Server::part(uint64_t connection, uint64_t id, std::string_view body) {
  Connection* to = find(connection);
  if (to == nullptr) return;
  std::string line = wire::encode_part(id, body);
  if (line.size() <= wire::kLargestLine + 1) return send(*to, std::move(line));
  log_.error("dropped a part of a call, because it is larger than a message may be", "socket");
}

void Server::ok(uint64_t connection, uint64_t id, std::string_view body) {
  answer(connection, id, wire::encode_ok(id, body));
}

void Server::fail(uint64_t connection, uint64_t id, const CallError& error) {
  answer(connection, id, wire::encode(wire::Failed{id, error}));
}

void Server::answer(uint64_t connection, uint64_t id, std::string line) {
  Connection* to = find(connection);
  if (to == nullptr) return;
  if (const auto call = to->calls.extract(id)) to->call_bytes -= call.mapped().bytes;
  if (line.size() > wire::kLargestLine + 1) {
    line = wire::encode(
        wire::Failed{id, {Code::Exhausted, "the answer is larger than 16 MiB; request less at a time"}});
  }
  send(*to, std::move(line));
}

void Server::send_event(uint64_t connection, const boost::json::object& event) {
  send_event_text(connection, wire::object_text(event));
}

void Server::send_event_text(uint64_t connection, std::string event) {
  Connection* to = find(connection);
  if (to == nullptr) return;
  std::string line = std::move(event) + "\n";
  if (line.size() <= wire::kLargestLine + 1) return send(*to, std::move(line));
  log_.error("dropped an event, because it is larger than a message may be", "socket");
}

size_t Server::backlog(uint64_t connection) const {
  const Connection* to = find(connection);
  return to != nullptr ? to->backlog() : 0;
}

void Server::on_drained(uint64_t connection, std::function<void()> callback) {
  Connection* to = find(connection);
  if (to == nullptr) return;
  to->drained.push_back(std::move(callback));
  // Nothing is waiting to be sent, so nothing would trigger the callback: run it from the loop.
  if (to->backlog() != 0) return;
  loop_.post([this, self = self_, connection] {
    if (*self == nullptr) return;
    if (Connection* still = find(connection)) flush(*still);
  });
}

size_t Server::open_calls() const {
  size_t count = 0;
  for (const auto& [fd, connection] : connections_) count += connection->calls.size();
  return count;
}

bool Server::has_unsent() const {
  return std::any_of(connections_.begin(), connections_.end(), [](const auto& entry) {
    return !entry.second->is_marked && entry.second->backlog() != 0;
  });
}

bool Server::fits(const Connection& to, size_t bytes) const {
  if (to.backlog() + bytes > limits_.largest_backlog) return false;
  if (to.backlog() + bytes <= limits_.pause_backlog)
    return true;  // a client that reads is not slowed down by others
  size_t total = bytes;
  for (const auto& [fd, connection] : connections_) total += connection->backlog();
  return total <= limits_.total_backlog;
}

void Server::send(Connection& to, std::string line) {
  if (to.is_marked || to.is_ending) return;
  if (!fits(to, line.size())) {
    return mark_for_removal(to, "did not read " + std::to_string(to.backlog()) + " bytes of answers");
  }
  if (to.backlog() == 0) {
    to.out = std::move(line);
    to.sent = 0;
  } else {
    to.out += line;
  }
  flush(to);
}

void Server::flush(Connection& to) {
  while (to.backlog() != 0) {
    const ssize_t done = ::send(to.fd.get(), to.out.data() + to.sent, to.backlog(), MSG_NOSIGNAL);
    if (done > 0) {
      to.sent += static_cast<size_t>(done);
    } else if (done < 0 && errno == EINTR) {
      continue;
    } else if (done < 0 && errno == EAGAIN) {
      break;
    } else {
      return mark_for_removal(to, "went away");
    }
  }
  if (to.backlog() == 0) {
    to.out = {};
    to.sent = 0;
    if (to.is_ending) return mark_for_removal(to, "");
    const auto drained = std::exchange(to.drained, {});
    for (const auto& callback : drained) {
      callback();
      if (to.is_marked) return;
    }
  } else if (to.sent >= to.out.size() / 2) {
    // Moved only when half is sent: moving the rest after every send would be quadratic.
    to.out.erase(0, to.sent);
    to.sent = 0;
  }
  watch(to);
}

void Server::watch(Connection& of) {
  const bool read = !of.is_ending && !of.throttled && of.backlog() <= limits_.pause_backlog;
  const uint32_t wanted = (read ? uint32_t{EPOLLIN} : 0U) | (of.backlog() != 0 ? uint32_t{EPOLLOUT} : 0U);
  if (wanted == of.watched) return;
  of.watched = wanted;
  loop_.poller().change(of.fd.get(), wanted, *this);
}

void Server::reject(Connection& from, const CallError& error) {
  if (from.is_marked || from.is_ending) return;
  log_.warning("pid " + std::to_string(from.who.pid) + ": " + error.message, "socket",
               {{"connection", from.who.connection}, {"pid", from.who.pid}});
  send_last(from, wire::encode(wire::Failed{0, error}));
}

void Server::send_last(Connection& to, const std::string& line) {
  to.out.erase(0, to.sent);
  to.sent = 0;
  to.out += line;
  to.is_ending = true;
  loop_.cancel(to.timer);
  to.timer = loop_.after(limits_.farewell_patience, [this, number = to.who.connection] {
    if (Connection* silent = find(number)) {
      silent->timer = 0;
      mark_for_removal(*silent, "does not read");
    }
  });
  flush(to);
}

void Server::mark_for_removal(Connection& connection, const std::string& why) {
  if (connection.is_marked) return;
  connection.is_marked = true;
  if (!why.empty() && connection.greeted) {
    log_.info("connection " + std::to_string(connection.who.connection) + " ends: " + why, "socket",
              {{"connection", connection.who.connection}, {"reason", why}});
  }
  // Not destroyed here: functions that use this connection may be on the stack.
  loop_.poller().remove(connection.fd.get());
  if (std::exchange(removal_due_, true)) return;
  loop_.post([this, self = self_] {
    if (*self != nullptr) remove_marked();
  });
}

void Server::remove_marked() {
  removal_due_ = false;
  std::vector<std::unique_ptr<Connection>> gone;
  for (auto next = connections_.begin(); next != connections_.end();) {
    if (!next->second->is_marked) {
      ++next;
      continue;
    }
    gone.push_back(std::move(next->second));
    next = connections_.erase(next);
  }
  for (const auto& connection : gone) {
    by_number_.erase(connection->who.connection);
    loop_.cancel(connection->timer);
    unparsed_ -= connection->counted;
  }
  for (const auto& connection : gone) {
    // Only now: these callbacks may call the server, which must no longer find the connections.
    for (auto& [id, call] : std::exchange(connection->calls, {})) {
      call.state->sink = nullptr;
      if (const auto cancelled = std::exchange(call.state->cancelled, nullptr)) cancelled();
    }
    if (connection->greeted) handler_.connection_closed(connection->who.connection);
  }
}

}  // namespace ttyward::daemon
