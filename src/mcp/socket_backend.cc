#include "mcp/socket_backend.h"

#include <thread>
#include <utility>
#include <vector>

namespace ttyward::mcp {
namespace {

CallFailure failure(const wire::CallError& error) {
  return {wire::code_name(error.code), error.message};
}

}  // namespace

SocketBackend::SocketBackend(io::Loop& loop, client::Options options)
    : loop_(loop), options_(std::move(options)) {
  handover_->to = this;
}

SocketBackend::~SocketBackend() {
  close();
  *alive_ = false;
  const std::lock_guard lock(handover_->mutex);
  handover_->to = nullptr;
}

void SocketBackend::close() {
  closed_ = true;
  if (connection_) loop_.poller().remove(connection_->fd());
  connection_.reset();
  for (auto& [number, call] : std::exchange(calls_, {}))
    call.on_done(tl::unexpected(CallFailure{"cancelled", "ttyward mcp ends"}));
}

void SocketBackend::connect() {
  if (connection_ || is_connecting_ || closed_) return;
  is_connecting_ = true;
  // Detached: starting a daemon may take longer than a client that leaves wants to wait for us.
  std::thread([options = options_, handover = handover_, alive = alive_] {
    auto opened = std::make_shared<base::Result<client::Connection>>(client::Connection::open(options));
    const std::lock_guard lock(handover->mutex);
    SocketBackend* self = handover->to;
    if (self == nullptr) return;
    self->loop_.post([self, opened, alive] {
      if (*alive) self->connected(std::move(*opened));
    });
  }).detach();
}

void SocketBackend::connected(base::Result<client::Connection> connection) {
  is_connecting_ = false;
  if (closed_) return;
  if (!connection) return lost(connection.error().message);
  connection_.emplace(std::move(*connection));
  if (const auto added = loop_.poller().add(connection_->fd(), EPOLLIN, *this); !added)
    return lost(added.error().message);
  if (on_connected_) on_connected_();
  std::vector<uint64_t> waiting;
  for (const auto& [number, call] : calls_) {
    if (call.wire_id == 0) waiting.push_back(number);
  }
  for (const uint64_t number : waiting) send(number);
}

uint64_t SocketBackend::call(std::string name, json::object args, OnPart on_part, OnDone on_done) {
  if (closed_) {
    on_done(tl::unexpected(CallFailure{"cancelled", "ttyward mcp ends"}));
    return 0;
  }
  const uint64_t number = ++last_;
  calls_[number] = Call{std::move(name), std::move(args), std::move(on_part), std::move(on_done)};
  if (connection_) {
    send(number);
  } else {
    connect();
  }
  return number;
}

void SocketBackend::send(uint64_t number) {
  const auto found = calls_.find(number);
  if (found == calls_.end() || !connection_) return;
  const auto started = connection_->start(found->second.name, found->second.args);
  if (!started) return lost(started.error().message);
  found->second.wire_id = *started;
  by_wire_id_[*started] = number;
  if (connection_->has_next()) {
    loop_.post([this, alive = alive_] {
      if (*alive) drain();
    });
  }
}

void SocketBackend::cancel(uint64_t number) {
  const auto found = calls_.find(number);
  if (found == calls_.end()) return;
  if (found->second.wire_id == 0)
    return finish(number, tl::unexpected(CallFailure{"cancelled", "it was taken back"}));
  if (connection_) connection_->cancel(found->second.wire_id);
}

void SocketBackend::on_ready(int, uint32_t) {
  drain();
}

void SocketBackend::drain() {
  while (connection_) {
    auto next = connection_->next(std::chrono::milliseconds(0));
    if (!next) return lost(next.error().message);
    if (!*next) return;
    if (auto* reply = std::get_if<client::Reply>(&**next)) {
      const auto number = by_wire_id_.find(reply->id);
      if (number == by_wire_id_.end()) continue;
      const uint64_t call = number->second;
      by_wire_id_.erase(number);
      if (reply->result) {
        finish(call, std::move(*reply->result));
      } else {
        finish(call, tl::unexpected(failure(reply->result.error())));
      }
    } else if (const auto* part = std::get_if<client::Part>(&**next)) {
      const auto number = by_wire_id_.find(part->id);
      if (number == by_wire_id_.end()) continue;
      const auto found = calls_.find(number->second);
      if (found != calls_.end() && found->second.on_part) {
        const OnPart handler = found->second.on_part;
        handler(part->part);
      }
    } else if (const auto* event = std::get_if<client::Event>(&**next)) {
      if (on_event_) on_event_(event->event);
    }
  }
}

void SocketBackend::finish(uint64_t number, CallReply reply) {
  const auto found = calls_.find(number);
  if (found == calls_.end()) return;
  const OnDone done = std::move(found->second.on_done);
  calls_.erase(found);
  done(std::move(reply));
}

void SocketBackend::lost(const std::string& why) {
  if (connection_) loop_.poller().remove(connection_->fd());
  connection_.reset();
  by_wire_id_.clear();
  for (auto& [number, call] : std::exchange(calls_, {})) {
    call.on_done(tl::unexpected(CallFailure{
        "unavailable", "the ttyward daemon cannot be reached (" + why + "); terminals are kept: try again"}));
  }
}

}  // namespace ttyward::mcp
