// A connection that comes back: when the daemon was killed or replaced, a session
// connects anew, starting a daemon if need be, and goes on.
//
// What becomes of calls that were open then:
//   - not sent to the end: sent again, whatever they are; the daemon never saw them
//   - repeatable (client/repeatable.h): sent again, under the same number. `exec` and
//     `run` are, since each gets an id for its command here: a daemon that knows the
//     command follows it and runs nothing. What a part said under `again` (how much
//     of the output came, what "now" was) goes with it, and so does the time left
//   - all others: answered with `unavailable`, fate Unknown. Commands survive a
//     daemon, so what a lost `batch` started can be found with `list` and `history`.
// A call that saw kMostAttempts daemons die at once is not sent again: it may be why.
//
// A daemon that somebody stopped is not brought back: everything fails from then on,
// and says so.
//
// next() tells of a new connection with Reconnected, before anything that comes from
// it: whoever subscribed has to subscribe again. fd() changes with it.
//
// Thread rule: one thread at a time.
#pragma once

#include <chrono>
#include <cstdint>
#include <deque>
#include <map>
#include <optional>
#include <string>
#include <string_view>

#include <boost/json/object.hpp>

#include "base/result.h"
#include "client/connection.h"

namespace ttyward::client {

inline constexpr int kMostAttempts = 12;
// A daemon that lived so long after a call did not die of it.
inline constexpr std::chrono::milliseconds kProvenHarmless{1000};

class Session {
 public:
  static base::Result<Session> open(Options options);

  int fd() const { return connection_.fd(); }
  const wire::Welcome& welcome() const { return connection_.welcome(); }
  bool stopped() const { return connection_.stopped(); }

  // As Connection's. Errors of next() and lost calls mean that no daemon could be
  // reached in Options::patience; each later use tries again.
  CallResult call(std::string_view name, boost::json::object args, const PartHandler& on_part = {},
                  const CallOptions& options = {});
  tl::expected<uint64_t, CallFailure> start(std::string_view name, boost::json::object args);
  void cancel(uint64_t id);
  base::Result<std::optional<Message>> next(std::chrono::milliseconds timeout);
  bool has_next() const { return !waiting_.empty() || connection_.has_next(); }

 private:
  template <typename Link>
  friend class ReplyWait;
  using Clock = std::chrono::steady_clock;
  struct Open {
    std::string name;
    boost::json::object args;
    Clock::time_point begun = Clock::now();
    Clock::time_point sent_at = begun;
    uint64_t sent_as = 0;  // its number on the connection; 0: not sent
    int attempts = 0;
    bool cancelled = false;
  };

  Session(Options options, Connection connection)
      : options_(std::move(options)), connection_(std::move(connection)) {}
  std::deque<Message>& waiting() { return waiting_; }
  base::Result<bool> wait_and_receive(Connection::Deadline until, int also_fd = -1);
  CallFailure lost_call(CallFailure::Fate fate) const { return connection_.lost_call(fate); }
  void take_over();
  base::Result<void> reconnect();
  bool send(uint64_t id, Open& call);
  static void take_along(Open& call, boost::json::object& part);
  static boost::json::object args_for_now(const Open& call);
  void give_up(uint64_t id, CallFailure failure);
  void give_up_all(const base::Error& why);

  Options options_;
  Connection connection_;
  std::map<uint64_t, Open> open_;
  std::map<uint64_t, uint64_t> ours_;  // number on the connection → ours
  std::deque<Message> waiting_;
  uint64_t last_id_ = 0;
};

}  // namespace ttyward::client
