#include "client/session.h"

#include <poll.h>

#include <algorithm>
#include <cerrno>
#include <utility>

#include "client/await_reply.h"

namespace ttyward::client {

namespace json = boost::json;

namespace {

int poll_timeout(std::optional<std::chrono::steady_clock::time_point> until) {
  if (!until) return -1;
  const auto left =
      std::chrono::ceil<std::chrono::milliseconds>(*until - std::chrono::steady_clock::now()).count();
  return static_cast<int>(std::clamp<int64_t>(left, 0, 1 << 30));
}

}  // namespace

base::Result<Session> Session::open(Options options) {
  auto connection = Connection::open(options);
  if (!connection) return tl::unexpected(connection.error());
  auto loop = io::Loop::create();
  if (!loop) return tl::unexpected(loop.error());
  auto state = std::make_unique<State>();
  state->loop = std::move(*loop);
  state->client = std::make_unique<Client>(*state->loop, std::move(options), Client::Presence::Kept,
                                           std::move(*connection));
  State& fixed = *state;
  state->client->on_event([&fixed](const json::object& event) { fixed.waiting.emplace_back(Event{event}); });
  state->client->on_connected([&fixed] {
    fixed.unreachable.reset();
    fixed.waiting.emplace_back(Reconnected{fixed.client->welcome()});
  });
  state->client->on_unreachable([&fixed](const base::Error& why) { fixed.unreachable = why; });
  return Session(std::move(state));
}

CallFailure Session::lost_call(CallFailure::Fate fate) const {
  CallFailure failure;
  failure.fate = fate;
  if (state_->unreachable) static_cast<wire::CallError&>(failure) = wire::call_error(*state_->unreachable);
  return failure;
}

tl::expected<uint64_t, CallFailure> Session::start(std::string_view name, json::object args) {
  if (stopped()) return tl::unexpected(lost_call(CallFailure::Fate::NotSent));
  state_->unreachable.reset();
  State& fixed = *state_;
  // The number is known only when call() returns, which may be after the answer.
  const auto number = std::make_shared<uint64_t>(0);
  const auto early = std::make_shared<std::optional<CallResult>>();
  *number = fixed.client->call(
      std::string(name), std::move(args),
      [&fixed, number](const json::object& part) { fixed.waiting.emplace_back(Part{*number, part}); },
      [&fixed, number, early](CallResult result) {
        if (*number == 0) {
          *early = std::move(result);
        } else {
          fixed.waiting.emplace_back(Reply{*number, std::move(result)});
        }
      });
  if (*early) fixed.waiting.emplace_back(Reply{*number, std::move(**early)});
  return *number;
}

base::Result<bool> Session::wait_and_receive(std::optional<Clock::time_point> until, int also_fd) {
  io::Loop& loop = *state_->loop;
  const size_t before = state_->waiting.size();
  for (;;) {
    if (state_->unreachable && !stopped()) state_->client->connect();
    const auto due = loop.next_turn();
    const bool by_loop = due && (!until || *due < *until);
    pollfd entries[2] = {{loop.fd(), POLLIN, 0}, {also_fd, POLLIN, 0}};  // a negative descriptor is left out
    const int ready = ::poll(entries, 2, state_->unreachable ? 0 : poll_timeout(by_loop ? due : until));
    if (ready < 0 && errno != EINTR) return base::fail_errno(errno, "cannot wait for the daemon");
    if (ready > 0 && entries[0].revents == 0) return false;
    loop.turn(Clock::duration::zero());
    if (state_->waiting.size() != before) return true;
    if (state_->unreachable) return tl::unexpected(*state_->unreachable);
    if (until && Clock::now() >= *until) return false;
  }
}

base::Result<std::optional<Message>> Session::next(std::chrono::milliseconds timeout) {
  return ReplyWait<Session>::next(*this, timeout);
}

CallResult Session::call(std::string_view name, json::object args, const PartHandler& on_part,
                         const CallOptions& options) {
  auto started = start(name, std::move(args));
  if (!started) return tl::unexpected(started.error());
  return ReplyWait<Session>(*this, *started, on_part, options).wait();
}

}  // namespace ttyward::client
