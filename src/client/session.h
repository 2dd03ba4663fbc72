// The blocking face of Client, for verbs: a call returns with its answer; what else arrives waits for next().
//
// Blocking:  call() sends, and returns with the answer; what else arrives
//            meanwhile goes to the handlers given, or waits for next().
// Polling:   start(), then next() whenever fd() is readable: answers, parts and
//            events in the order in which they came.
//
// A session comes back after a daemon's death as Client says. next() tells of a new connection with
// Reconnected, before anything that comes from it: whoever subscribed has to subscribe again. A daemon that
// somebody stopped is not brought back: everything fails from then on, and says so.
//
// Thread rule: one thread at a time.
#pragma once

#include <chrono>
#include <cstdint>
#include <deque>
#include <memory>
#include <optional>
#include <string_view>

#include <boost/json/object.hpp>

#include "base/result.h"
#include "client/client.h"
#include "client/connection.h"
#include "client/typed_call.h"

namespace ttyward::client {

class Session {
 public:
  static base::Result<Session> open(Options options);

  // Readable when there may be something for next(); the same for the whole life of the session.
  int fd() const { return state_->loop->fd(); }
  const wire::Welcome& welcome() const { return state_->client->welcome(); }
  bool stopped() const { return state_->client->stopped(); }

  template <Request R>
  AnswerOf<R> call(const R& request, const PartHandler& on_part = {}, const CallOptions& options = {}) {
    return answer_of<R>(call(R::kCall, arguments_of(request), on_part, options));
  }
  template <Request R>
  tl::expected<uint64_t, CallFailure> start(const R& request) {
    return start(R::kCall, arguments_of(request));
  }
  // By name, for what is only known when the program runs.
  CallResult call(std::string_view name, boost::json::object args, const PartHandler& on_part = {},
                  const CallOptions& options = {});
  // Sends a call; its Reply comes through next(). Fails only after somebody stopped the daemon.
  tl::expected<uint64_t, CallFailure> start(std::string_view name, boost::json::object args);
  // Takes it back; its Reply comes all the same.
  void cancel(uint64_t id) { state_->client->cancel(id); }
  // What is next, or nullopt if nothing comes in time (0: only what is there already; negative: for ever).
  // Fails while no daemon can be reached; each use tries again.
  base::Result<std::optional<Message>> next(std::chrono::milliseconds timeout);
  // Whether next(0) has something without the descriptor being readable.
  bool has_next() const { return !state_->waiting.empty(); }

 private:
  template <typename Link>
  friend class ReplyWait;
  using Clock = std::chrono::steady_clock;

  // Apart from the object, which may be moved: the client's callbacks refer to it.
  struct State {
    std::deque<Message> waiting;
    std::optional<base::Error> unreachable;  // why the last attempt to connect failed
    std::unique_ptr<io::Loop> loop;
    std::unique_ptr<Client> client;  // goes first: what is open then is answered into `waiting`
  };

  explicit Session(std::unique_ptr<State> state) : state_(std::move(state)) {}
  std::deque<Message>& waiting() { return state_->waiting; }
  // False: nothing came in time, or also_fd is readable.
  base::Result<bool> wait_and_receive(std::optional<Clock::time_point> until, int also_fd = -1);
  CallFailure lost_call(CallFailure::Fate fate) const;

  std::unique_ptr<State> state_;
};

}  // namespace ttyward::client
