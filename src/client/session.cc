#include "client/session.h"

#include <algorithm>
#include <utility>
#include <vector>

#include <boost/json/value.hpp>

#include "client/await_reply.h"
#include "client/repeatable.h"

namespace ttyward::client {

namespace json = boost::json;

base::Result<Session> Session::open(Options options) {
  auto connection = Connection::open(options);
  if (!connection) return tl::unexpected(connection.error());
  return Session(std::move(options), std::move(*connection));
}

// What a part tells for the case that the call has to be sent again; the caller does not see it.
void Session::take_along(Open& call, json::object& part) {
  const auto again = part.find("again");
  if (again == part.end()) return;
  if (again->value().is_object()) {
    for (const auto& [name, value] : again->value().get_object()) call.args[name] = value;
  }
  part.erase(again);
}

// The caller's time runs on while there is no daemon.
json::object Session::args_for_now(const Open& call) {
  json::object args = call.args;
  const char* const limit = call.name == "wait" ? "timeout_ms" : "yield_after_ms";
  json::value* const time = args.if_contains(limit);
  if (time == nullptr || !time->is_int64() || time->get_int64() <= 0) return args;
  const auto passed = std::chrono::duration_cast<std::chrono::milliseconds>(Clock::now() - call.begun);
  time->get_int64() = std::max<int64_t>(1, time->get_int64() - passed.count());
  return args;
}

bool Session::send(uint64_t id, Open& call) {
  auto sent = connection_.start(call.name, args_for_now(call));
  if (!sent) return false;
  call.sent_as = *sent;
  call.sent_at = Clock::now();
  ++call.attempts;
  ours_[*sent] = id;
  if (call.cancelled) connection_.cancel(*sent);
  return true;
}

tl::expected<uint64_t, CallFailure> Session::start(std::string_view name, json::object args) {
  const uint64_t id = ++last_id_;
  Open call{std::string(name), std::move(args)};
  make_repeatable(call.name, call.args);
  // The first try finds a daemon that died since the last call, the second a new one.
  for (int attempt = 0; attempt < kMostAttempts; ++attempt) {
    auto sent = connection_.start(call.name, call.args);
    if (sent) {
      call.sent_as = *sent;
      call.attempts = 1;
      ours_[*sent] = id;
      open_.emplace(id, std::move(call));
      return id;
    }
    if (!sent.error().connection_lost()) return tl::unexpected(sent.error());
    take_over();  // what the old daemon said before its end
    if (stopped()) break;
    if (auto again = reconnect(); !again) {
      CallFailure failure{wire::call_error(again.error()), CallFailure::Fate::NotSent};
      return tl::unexpected(std::move(failure));
    }
  }
  return tl::unexpected(connection_.lost_call(CallFailure::Fate::NotSent));
}

void Session::cancel(uint64_t id) {
  const auto found = open_.find(id);
  if (found == open_.end()) return;
  found->second.cancelled = true;
  connection_.cancel(found->second.sent_as);
}

// Moves what came on the connection into our own queue, under our own numbers.
void Session::take_over() {
  for (Message& message : std::exchange(connection_.waiting(), {})) {
    if (auto* reply = std::get_if<Reply>(&message)) {
      const auto found = ours_.find(reply->id);
      if (found == ours_.end()) continue;
      reply->id = found->second;
      open_.erase(found->second);
      ours_.erase(found);
    } else if (auto* part = std::get_if<Part>(&message)) {
      const auto found = ours_.find(part->id);
      if (found == ours_.end()) continue;
      part->id = found->second;
      take_along(open_.at(part->id), part->part);
      if (part->part.empty()) continue;
    }
    waiting_.push_back(std::move(message));
  }
}

void Session::give_up(uint64_t id, CallFailure failure) {
  open_.erase(id);
  waiting_.emplace_back(Reply{id, tl::unexpected(std::move(failure))});
}

void Session::give_up_all(const base::Error& why) {
  ours_.clear();
  for (const auto& [id, call] : std::exchange(open_, {})) {
    give_up(id, {wire::call_error(why), CallFailure::Fate::Unknown});
  }
}

base::Result<void> Session::reconnect() {
  auto connection = Connection::open(options_);
  if (!connection) {
    give_up_all(connection.error());
    return tl::unexpected(connection.error());
  }
  ours_.clear();
  connection_ = std::move(*connection);
  waiting_.emplace_back(Reconnected{connection_.welcome()});
  std::vector<uint64_t> lost;
  for (auto& [id, call] : open_) {
    call.sent_as = 0;
    if (Clock::now() - call.sent_at >= kProvenHarmless) call.attempts = 0;
    if (!repeatable(call.name, call.args) || call.attempts >= kMostAttempts) {
      lost.push_back(id);
    } else if (!send(id, call)) {
      break;  // this one is gone, too: the next round finds out, and sends all of them
    }
  }
  for (const uint64_t id : lost) {
    const std::string& name = open_.at(id).name;
    give_up(id, {{wire::Code::Unavailable, "the daemon ended before it answered '" + name +
                                               "'; see with 'list' and 'history' whether it took effect"},
                 CallFailure::Fate::Unknown});
  }
  return {};
}

base::Result<bool> Session::wait_and_receive(Connection::Deadline until, int also_fd) {
  const auto before = waiting_.size();
  auto received = connection_.wait_and_receive(until, also_fd);
  take_over();
  if (received) return waiting_.size() != before ? base::Result<bool>(true) : received;
  if (stopped()) {
    give_up_all(received.error());
    return received;
  }
  if (auto again = reconnect(); !again) return tl::unexpected(again.error());
  return true;
}

base::Result<std::optional<Message>> Session::next(std::chrono::milliseconds timeout) {
  take_over();
  return ReplyWait<Session>::next(*this, timeout);
}

CallResult Session::call(std::string_view name, json::object args, const PartHandler& on_part,
                         const CallOptions& options) {
  auto started = start(name, std::move(args));
  if (!started) return tl::unexpected(started.error());
  return ReplyWait<Session>(*this, *started, on_part, options).wait();
}

}  // namespace ttyward::client
