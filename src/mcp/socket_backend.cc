#include "mcp/socket_backend.h"

#include <algorithm>
#include <thread>
#include <utility>
#include <vector>

#include "client/repeatable.h"

namespace ttyward::mcp {
namespace {

constexpr int kMostAttempts = 12;

CallFailure failure(const wire::CallError& error) {
  return {wire::code_name(error.code), error.message};
}

CallFailure never_reached(const std::string& why) {
  return {"unavailable", "the ttyward daemon cannot be reached (" + why + "); terminals are kept: try again"};
}

// Lowers a time that a call gave by what has passed of it. 0 is no limit, and stays.
void shorten(json::object& args, const char* name, std::chrono::milliseconds passed) {
  const auto given = integer_at(args, name);
  if (given && *given > 0) args[name] = std::max<int64_t>(1, *given - passed.count());
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
  if (!connection) return unreachable(connection.error().message);
  connection_.emplace(std::move(*connection));
  if (const auto added = loop_.poller().add(connection_->fd(), EPOLLIN, *this); !added) {
    connection_.reset();
    return unreachable(added.error().message);
  }
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
  client::make_repeatable(name, args);
  Call& made = calls_[number];
  made.name = std::move(name);
  made.args = std::move(args);
  made.on_part = std::move(on_part);
  made.on_done = std::move(on_done);
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
  Call& call = found->second;
  const auto passed =
      std::chrono::duration_cast<std::chrono::milliseconds>(io::Loop::Clock::now() - call.begun);
  json::object args = call.args;
  if (call.attempts > 0) shorten(args, call.name == "wait" ? "timeout_ms" : "yield_after_ms", passed);
  const auto started = connection_->start(call.name, std::move(args));
  if (!started) return broken(started.error().message);
  ++call.attempts;
  call.wire_id = *started;
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
  const Call& call = found->second;
  const auto command_id = text_at(call.args, "command_id");
  const bool may_run = call.wire_id == 0 && call.attempts > 0 && command_id.has_value();
  if (may_run && text_or(call.args, "on_cancel") == "interrupt")
    this->call("interrupt", {{"command", *command_id}}, {}, [](const CallReply&) {});
  if (call.wire_id == 0) return finish(number, tl::unexpected(CallFailure{"cancelled", "it was taken back"}));
  if (connection_) connection_->cancel(call.wire_id);
}

void SocketBackend::on_ready(int, uint32_t) {
  drain();
}

void SocketBackend::drain() {
  while (connection_) {
    auto next = connection_->next(std::chrono::milliseconds(0));
    if (!next) return broken(next.error().message);
    if (!*next) return;
    if (auto* reply = std::get_if<client::Reply>(&**next)) {
      if (reply->result) {
        take_reply(reply->id, std::move(*reply->result));
      } else {
        take_reply(reply->id, tl::unexpected(failure(reply->result.error())));
      }
    } else if (auto* part = std::get_if<client::Part>(&**next)) {
      take_part(part->id, std::move(part->part));
    } else if (const auto* event = std::get_if<client::Event>(&**next)) {
      if (on_event_) on_event_(event->event);
    }
  }
}

void SocketBackend::take_part(uint64_t wire_id, json::object part) {
  const auto number = by_wire_id_.find(wire_id);
  if (number == by_wire_id_.end()) return;
  const auto found = calls_.find(number->second);
  if (found == calls_.end()) return;
  if (const json::object* again = object_at(part, "again")) {
    for (const auto& [name, value] : *again) found->second.args[name] = value;
    part.erase("again");
    if (part.empty()) return;
  }
  if (const OnPart handler = found->second.on_part) handler(part);
}

void SocketBackend::take_reply(uint64_t wire_id, CallReply reply) {
  const auto entry = by_wire_id_.find(wire_id);
  if (entry == by_wire_id_.end()) return;
  const uint64_t number = entry->second;
  by_wire_id_.erase(entry);
  finish(number, std::move(reply));
}

void SocketBackend::finish(uint64_t number, CallReply reply) {
  const auto found = calls_.find(number);
  if (found == calls_.end()) return;
  const OnDone done = std::move(found->second.on_done);
  calls_.erase(found);
  done(std::move(reply));
}

// Whether a call of a connection that broke can be sent again.
bool SocketBackend::goes_on(Call& call) const {
  if (call.wire_id == 0) return true;
  call.wire_id = 0;
  if (call.attempts >= kMostAttempts) return false;
  return client::repeatable(call.name, call.args);
}

void SocketBackend::broken(const std::string& why) {
  if (connection_) loop_.poller().remove(connection_->fd());
  connection_.reset();
  by_wire_id_.clear();
  std::vector<OnDone> ended;
  for (auto it = calls_.begin(); it != calls_.end();) {
    if (goes_on(it->second)) {
      ++it;
      continue;
    }
    ended.push_back(std::move(it->second.on_done));
    it = calls_.erase(it);
  }
  if (!calls_.empty()) connect();
  for (const OnDone& done : ended) {
    done(tl::unexpected(CallFailure{
        "unavailable", "the ttyward daemon went away before it answered (" + why +
                           "); terminals are kept: see whether it took effect before trying again"}));
  }
}

void SocketBackend::unreachable(const std::string& why) {
  for (auto& [number, call] : std::exchange(calls_, {})) call.on_done(tl::unexpected(never_reached(why)));
}

}  // namespace ttyward::mcp
