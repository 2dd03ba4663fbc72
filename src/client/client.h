// The client of the daemon: asynchronous, and it comes back when a daemon dies.
//
// Connecting happens on a thread of its own, so that the loop goes on while a daemon starts; calls made
// meanwhile wait. Commands live in holders, so a daemon that dies takes nothing with it. When a connection
// breaks it is made again, however often, and calls that were open go on:
//   - not sent to the end: sent again, whatever they are; the daemon never saw them
//   - repeatable (wire/repeatable.h): sent again. `exec` and `run` are, since each gets an id for its
//     command here: a daemon that knows the command follows it and runs nothing. What a part said under
//     `again` (how much of the output came, what "now" was) goes with it, and so does the time left
//   - all others: fail with `unavailable`, fate Unknown. Commands survive a daemon, so what a lost call
//     started can be found with `list` and `history`
// A call may be why daemons die. One that saw kMostAttempts of them die in a row, each before it gave a sign
// of life after the call, is given up.
//
// Session is the blocking face. Thread rule: the loop thread.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>

#include "client/caller.h"
#include "client/connection.h"
#include "io/loop.h"

namespace ttyward::client {

inline constexpr int kMostAttempts = 12;
// A daemon that lived so long after a call did not die of it.
inline constexpr std::chrono::milliseconds kProvenHarmless{1000};

class Client final : public Caller, private io::Poller::Handler {
 public:
  enum class Presence {
    Kept,    // connects again at once, to hear events; not after somebody stopped the daemon
    AtNeed,  // connects again when there is a call to send, also after somebody stopped the daemon
  };

  Client(io::Loop& loop, Options options, Presence presence);
  // With a connection that stands already.
  Client(io::Loop& loop, Options options, Presence presence, Connection connection);
  ~Client() override;

  using Caller::call;  // with a request of wire/types
  uint64_t call(std::string name, boost::json::object args, OnPart on_part, OnDone on_done) override;
  void cancel(uint64_t call) override;
  void on_event(OnEvent handler) override { on_event_ = std::move(handler); }
  void on_connected(std::function<void()> handler) override { on_connected_ = std::move(handler); }
  // The connection broke; another is made, unless the next two say otherwise.
  void on_disconnected(std::function<void()> handler) { on_disconnected_ = std::move(handler); }
  // No daemon could be reached, or somebody stopped it (Presence::Kept). The next call tries again.
  void on_unreachable(std::function<void(const base::Error&)> handler) {
    on_unreachable_ = std::move(handler);
  }
  void close() override;
  // Begins to connect if there is no connection.
  void connect();
  // Of the last connection.
  const wire::Welcome& welcome() const { return welcome_; }
  // Somebody stopped the daemon, and this client does not bring it back.
  bool stopped() const { return stopped_; }

 private:
  using Clock = io::Loop::Clock;
  struct Call {
    std::string name;
    boost::json::object args;
    OnPart on_part;
    OnDone on_done;
    Clock::time_point begun = Clock::now();
    Clock::time_point sent_at = begun;
    uint64_t wire_id = 0;   // 0: not with this connection
    uint64_t sent_end = 0;  // where its line ends in what the connection sends
    int attempts = 0;       // daemons that got it, one after the other, without a sign of life
    bool was_sent = false;  // some daemon may have seen it
    bool cancelled = false;
  };

  void on_ready(int fd, uint32_t events) override;
  void adopt(Connection connection);
  void connected(base::Result<Connection> connection);
  void send_waiting();
  // False: the connection broke, or the call is too long.
  bool send(uint64_t number);
  void probe_later();
  void flush();
  void receive();
  void dispatch();
  void take_part(uint64_t wire_id, boost::json::object part);
  void take_reply(Reply reply);
  void prove_harmless(uint64_t wire_id);
  static boost::json::object args_for_now(const Call& call);
  void finish(uint64_t number, CallResult result);
  // Whether a call of a connection that broke goes on.
  bool goes_on(Call& call) const;
  void drop_connection();
  void broken(const base::Error& why);
  void give_up_all(const base::Error& why);

  io::Loop& loop_;
  const Options options_;
  const Presence presence_;
  std::optional<Connection> connection_;
  wire::Welcome welcome_;
  // Where the connecting thread leaves its result; it may outlive us.
  struct Handover {
    std::mutex mutex;
    Client* to = nullptr;  // guarded by mutex; null once we are gone
  };
  std::shared_ptr<Handover> handover_ = std::make_shared<Handover>();
  bool is_connecting_ = false;
  bool is_writing_ = false;  // waits to be able to send
  bool is_closed_ = false;
  bool stopped_ = false;
  bool showed_life_ = false;  // this daemon has answered something
  int silent_deaths_ = 0;     // daemons in a row that went at once without an answer
  Clock::time_point connected_at_;
  io::Loop::TimerId retry_ = 0;
  std::map<uint64_t, Call> calls_;
  std::map<uint64_t, uint64_t> by_wire_id_;
  uint64_t last_ = 0;
  OnEvent on_event_;
  std::function<void()> on_connected_;
  std::function<void()> on_disconnected_;
  std::function<void(const base::Error&)> on_unreachable_;
  std::shared_ptr<bool> alive_ = std::make_shared<bool>(true);
};

}  // namespace ttyward::client
