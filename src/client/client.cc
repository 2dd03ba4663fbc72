#include "client/client.h"

#include <algorithm>
#include <thread>
#include <utility>
#include <vector>

#include <boost/json/value.hpp>

#include "wire/repeatable.h"

namespace ttyward::client {

namespace json = boost::json;
using std::chrono::milliseconds;

namespace {

// A daemon that dies at once is followed by another at once, so many times; then after growing pauses.
constexpr int kQuickRetries = 3;
constexpr milliseconds kFirstPause{10};
constexpr milliseconds kLongestPause{500};

CallFailure cancelled(const char* why) {
  return {{wire::Code::Cancelled, why}, CallFailure::Fate::Answered};
}

CallFailure lost(const std::string& name, const std::string& why) {
  return {{wire::Code::Unavailable, "the daemon ended before it answered '" + name + "' (" + why +
                                        "); check with 'list' and 'history' whether it took effect"},
          CallFailure::Fate::Unknown};
}

}  // namespace

Client::Client(io::Loop& loop, Options options, Presence presence)
    : loop_(loop), options_(std::move(options)), presence_(presence) {
  handover_->to = this;
}

Client::Client(io::Loop& loop, Options options, Presence presence, Connection connection)
    : Client(loop, std::move(options), presence) {
  adopt(std::move(connection));
}

Client::~Client() {
  close();
  *alive_ = false;
  const std::lock_guard lock(handover_->mutex);
  handover_->to = nullptr;
}

void Client::close() {
  is_closed_ = true;
  drop_connection();
  loop_.cancel(retry_);
  for (auto& [number, call] : std::exchange(calls_, {}))
    call.on_done(tl::unexpected(cancelled("the client is shutting down")));
}

// ---- connecting

void Client::connect() {
  if (connection_ || is_connecting_ || is_closed_) return;
  loop_.cancel(retry_);
  is_connecting_ = true;
  stopped_ = false;
  // Detached: starting a daemon may take longer than whoever ends us wants to wait.
  std::thread([options = options_, handover = handover_, alive = alive_] {
    auto opened = std::make_shared<base::Result<Connection>>(Connection::open(options));
    const std::lock_guard lock(handover->mutex);
    Client* self = handover->to;
    if (self == nullptr) return;
    self->loop_.post([self, opened, alive] {
      if (*alive) self->connected(std::move(*opened));
    });
  }).detach();
}

void Client::adopt(Connection connection) {
  connection_.emplace(std::move(connection));
  welcome_ = connection_->welcome();
  connected_at_ = Clock::now();
  showed_life_ = false;
  is_writing_ = false;
  // A descriptor that epoll does not take is a bug, not a state of the world.
  if (!loop_.poller().add(connection_->fd(), EPOLLIN, *this)) connection_.reset();
}

void Client::connected(base::Result<Connection> connection) {
  is_connecting_ = false;
  if (is_closed_) return;
  if (!connection) return give_up_all(connection.error());
  adopt(std::move(*connection));
  if (on_connected_) on_connected_();
  send_waiting();
}

void Client::send_waiting() {
  std::vector<uint64_t> waiting;
  bool is_suspect = false;
  for (const auto& [number, call] : calls_) {
    if (call.wire_id != 0) continue;
    waiting.push_back(number);
    is_suspect = is_suspect || call.attempts > 1;
  }
  for (const uint64_t number : waiting) send(number);
  if (is_suspect) probe_later();
}

// An answer to this call shows that the daemon has read those before it and lives.
void Client::probe_later() {
  if (!connection_) return;
  if (const auto started = connection_->enqueue("status", {}); started) flush();
}

void Client::drop_connection() {
  if (connection_) loop_.poller().remove(connection_->fd());
  connection_.reset();
  by_wire_id_.clear();
}

// ---- calls

uint64_t Client::call(std::string name, json::object args, OnPart on_part, OnDone on_done) {
  const uint64_t number = ++last_;
  if (is_closed_) {
    on_done(tl::unexpected(cancelled("the client is shutting down")));
    return number;
  }
  wire::make_repeatable(name, args);
  Call& made = calls_[number];
  made.name = std::move(name);
  made.args = std::move(args);
  made.on_part = std::move(on_part);
  made.on_done = std::move(on_done);
  if (connection_) {
    send(number);
  } else if (retry_ == 0) {
    connect();
  }
  return number;
}

// The caller's time runs on while there is no daemon. 0 is no limit, and stays.
json::object Client::args_for_now(const Call& call) {
  json::object args = call.args;
  json::value* const time = args.if_contains(call.name == "wait" ? "timeout_ms" : "yield_after_ms");
  if (!call.was_sent || time == nullptr || !time->is_int64() || time->get_int64() <= 0) return args;
  const auto passed = std::chrono::duration_cast<milliseconds>(Clock::now() - call.begun);
  time->get_int64() = std::max<int64_t>(1, time->get_int64() - passed.count());
  return args;
}

bool Client::send(uint64_t number) {
  const auto found = calls_.find(number);
  if (found == calls_.end() || !connection_) return false;
  Call& call = found->second;
  const auto started = connection_->enqueue(call.name, args_for_now(call));
  if (!started) {
    finish(number, tl::unexpected(started.error()));
    return false;
  }
  call.wire_id = *started;
  call.sent_end = connection_->enqueued();
  call.sent_at = Clock::now();
  by_wire_id_[*started] = number;
  if (call.cancelled) connection_->enqueue_cancel(call.wire_id);
  flush();
  return connection_.has_value();
}

void Client::cancel(uint64_t number) {
  const auto found = calls_.find(number);
  if (found == calls_.end()) return;
  Call& call = found->second;
  call.cancelled = true;
  if (call.wire_id != 0) {
    connection_->enqueue_cancel(call.wire_id);
    return flush();
  }
  // A daemon that died may have begun its command, which is to be interrupted then.
  const json::value* const command = call.args.if_contains("command_id");
  const json::value* const wish = call.args.if_contains("on_cancel");
  const bool interrupts = wish != nullptr && wish->is_string() && wish->get_string() == "interrupt";
  if (call.was_sent && command != nullptr && interrupts)
    this->call("interrupt", {{"command", *command}}, {}, [](const CallResult&) {});
  finish(number, tl::unexpected(cancelled("the call was cancelled")));
}

void Client::finish(uint64_t number, CallResult result) {
  const auto found = calls_.find(number);
  if (found == calls_.end()) return;
  by_wire_id_.erase(found->second.wire_id);
  const OnDone done = std::move(found->second.on_done);
  calls_.erase(found);
  done(std::move(result));
}

// ---- the connection

void Client::on_ready(int, uint32_t events) {
  if ((events & EPOLLOUT) != 0) flush();
  if (connection_ && (events & (EPOLLIN | EPOLLHUP | EPOLLERR)) != 0) receive();
}

void Client::flush() {
  if (!connection_) return;
  const auto sent = connection_->flush();
  if (sent == Connection::Sent::Lost) {
    // From the loop: whoever is calling has more to do with its call. What the daemon said last is read
    // there.
    loop_.post([this, alive = alive_] {
      if (*alive && connection_) receive();
    });
    return;
  }
  const bool wants = sent == Connection::Sent::NotAll;
  if (wants == is_writing_) return;
  is_writing_ = wants;
  loop_.poller().change(connection_->fd(), EPOLLIN | (wants ? EPOLLOUT : 0u), *this);
}

void Client::receive() {
  const auto received = connection_->receive();
  dispatch();
  if (!received && connection_) broken(received.error());
}

void Client::dispatch() {
  const std::shared_ptr<bool> alive = alive_;
  // Taken out first: a callback may drop the connection or destroy this object.
  auto messages = std::exchange(connection_->waiting(), {});
  for (Message& message : messages) {
    if (auto* reply = std::get_if<Reply>(&message)) {
      take_reply(std::move(*reply));
    } else if (auto* part = std::get_if<Part>(&message)) {
      take_part(part->id, std::move(part->part));
    } else if (const auto* event = std::get_if<Event>(&message)) {
      if (on_event_) on_event_(event->event);
    }
    if (!*alive || is_closed_) return;
  }
}

// The daemon has read everything up to this call and goes on.
void Client::prove_harmless(uint64_t wire_id) {
  showed_life_ = true;
  for (auto& [number, call] : calls_) {
    if (call.wire_id != 0 && call.wire_id <= wire_id) call.attempts = 0;
  }
}

void Client::take_part(uint64_t wire_id, json::object part) {
  prove_harmless(wire_id);
  const auto number = by_wire_id_.find(wire_id);
  if (number == by_wire_id_.end()) return;
  const auto found = calls_.find(number->second);
  if (found == calls_.end()) return;
  if (const json::value* again = part.if_contains("again")) {
    if (again->is_object()) {
      for (const auto& [name, value] : again->get_object()) found->second.args[name] = value;
    }
    part.erase("again");
    if (part.empty()) return;
  }
  if (const OnPart handler = found->second.on_part) handler(part);
}

void Client::take_reply(Reply reply) {
  prove_harmless(reply.id);
  const auto entry = by_wire_id_.find(reply.id);
  if (entry != by_wire_id_.end()) finish(entry->second, std::move(reply.result));
}

// ---- when it breaks

bool Client::goes_on(Call& call) const {
  if (call.wire_id == 0) return true;
  call.wire_id = 0;
  // Not sent completely: the daemon never carries out half a line, so it is safe to send again.
  if (call.sent_end > connection_->sent()) return true;
  call.was_sent = true;
  call.attempts = Clock::now() - call.sent_at >= kProvenHarmless ? 1 : call.attempts + 1;
  return call.attempts < kMostAttempts && wire::repeatable(call.name, call.args);
}

void Client::broken(const base::Error& why) {
  const bool by_somebody = connection_->stopped() && presence_ == Presence::Kept;
  // Callbacks run at the very end: they may make new calls, which must find the connection dropped.
  std::vector<std::pair<OnDone, CallFailure>> ended;
  for (auto it = calls_.begin(); it != calls_.end();) {
    if (goes_on(it->second)) {
      ++it;
      continue;
    }
    ended.emplace_back(std::move(it->second.on_done), lost(it->second.name, why.message));
    it = calls_.erase(it);
  }
  drop_connection();
  if (on_disconnected_) on_disconnected_();
  if (by_somebody) {
    stopped_ = true;
    give_up_all(why);
  } else if (presence_ == Presence::Kept || !calls_.empty()) {
    // A daemon that dies before it answered anything may die of what we send. Such deaths are retried with
    // growing pauses; a daemon that worked for a while is replaced at once.
    const bool silent = !showed_life_ && Clock::now() - connected_at_ < kProvenHarmless;
    silent_deaths_ = silent ? silent_deaths_ + 1 : 0;
    if (silent_deaths_ <= kQuickRetries) {
      connect();
    } else {
      const int doublings = std::min(silent_deaths_ - kQuickRetries - 1, 10);
      retry_ = loop_.after(std::min(kFirstPause * (1 << doublings), kLongestPause), [this] {
        retry_ = 0;
        connect();
      });
    }
  }
  for (auto& [done, failure] : ended) done(tl::unexpected(std::move(failure)));
}

void Client::give_up_all(const base::Error& why) {
  const wire::CallError error = wire::call_error(why);
  for (auto& [number, call] : std::exchange(calls_, {})) {
    const auto fate = call.was_sent ? CallFailure::Fate::Unknown : CallFailure::Fate::NotSent;
    call.on_done(tl::unexpected(CallFailure{error, fate}));
  }
  if (on_unreachable_) on_unreachable_(why);
}

}  // namespace ttyward::client
