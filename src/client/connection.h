// One connection to one daemon, which is started if it is not there (see Options).
//
// What a connection cannot do is survive its daemon: Client does that, on top, and Session blocks on a
// Client. The blocking calls here are for what is about this very daemon: its start, its end, its status.
//
// Thread rule: one thread at a time.
#pragma once

#include <chrono>
#include <cstdint>
#include <deque>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <variant>

#include <boost/json/object.hpp>
#include <tl/expected.hpp>

#include "base/folders.h"
#include "base/result.h"
#include "base/unique_fd.h"
#include "client/call_result.h"
#include "client/typed_call.h"
#include "wire/line_reader.h"
#include "wire/messages.h"

namespace ttyward::client {

struct Options;
// Connects to the daemon's socket, and starts a daemon where none runs and Options says so. Blocks for at
// most the patience of the options.
base::Result<base::UniqueFd> reach_daemon(const Options& options);

struct Options {
  base::Folders folders = base::user_folders();
  std::string program;  // the ttyward that starts the daemon; empty: this very program
  std::string role = "person";
  std::string client;   // what this client calls itself: "ttyward exec"
  std::string reader;   // empty: as `client`
  std::string session;  // empty: none
  std::string secret;   // of the session: proves that it is ours
  // A person's token; empty: that of the file TTYWARD_PERSON_TOKEN_FILE names, if it is set.
  std::string token;
  bool start_daemon = true;
  std::chrono::milliseconds patience{10'000};  // to connect, start and be welcomed, all together
  // Who connects instead of this process, which may not; empty: this process. Called on any thread.
  std::function<base::Result<base::UniqueFd>(const Options& options)> reach;
};

struct Reply {
  uint64_t id = 0;
  CallResult result;
};
struct Part {
  uint64_t id = 0;
  boost::json::object part;
};
struct Event {
  boost::json::object event;
};
// Of a Session: this is another daemon, or another connection to it. Subscriptions
// and leases of the old one are gone.
struct Reconnected {
  wire::Welcome welcome;
};
using Message = std::variant<Reply, Part, Event, Reconnected>;

using PartHandler = std::function<void(const boost::json::object&)>;
using EventHandler = std::function<void(const boost::json::object&)>;

struct CallOptions {
  std::chrono::milliseconds deadline{0};  // 0: none
  // When this descriptor becomes readable (a signalfd, say) the call is
  // cancelled, once, and ends with `cancelled`; the descriptor is not read.
  int cancel_fd = -1;
  EventHandler on_event;  // none: events wait for next()
};

template <typename Link>
class ReplyWait;

class Connection {
 public:
  static base::Result<Connection> open(const Options& options);
  // To a socket that is connected already: says hello.
  static base::Result<Connection> greet(base::UniqueFd socket, const Options& options);

  // Readable when there may be something for next(). Nonblocking.
  int fd() const { return fd_.get(); }
  const wire::Welcome& welcome() const { return welcome_; }
  // Lost, since somebody stopped the daemon: nobody wants another one now.
  bool stopped() const { return stopped_; }

  template <Request R>
  AnswerOf<R> call(const R& request, const PartHandler& on_part = {}, const CallOptions& options = {}) {
    return answer_of<R>(call(R::kCall, arguments_of(request), on_part, options));
  }
  CallResult call(std::string_view name, boost::json::object args, const PartHandler& on_part = {},
                  const CallOptions& options = {});

  // Sends a call; its Reply comes through next(). The error says whether it was sent. Blocks while the daemon
  // does not read.
  tl::expected<uint64_t, CallFailure> start(std::string_view name, boost::json::object args);
  // Takes it back; its Reply comes all the same.
  void cancel(uint64_t id);
  // What is next, or nullopt if nothing comes in time (0: only what is there
  // already; negative: for ever). Fails once the connection is lost and
  // everything that came before was handed out.
  base::Result<std::optional<Message>> next(std::chrono::milliseconds timeout);
  // Whether next(0) has something without the descriptor being readable.
  bool has_next() const { return !waiting_.empty(); }

  // --- without blocking, for Client
  enum class Sent : uint8_t { All, NotAll, Lost };
  // The id; fails if the call is too long for the wire.
  tl::expected<uint64_t, CallFailure> enqueue(std::string_view name, boost::json::object args);
  void enqueue_cancel(uint64_t id);
  // Sends what the socket takes of what was enqueued.
  Sent flush();
  // Bytes enqueued and sent since the beginning: a call whose line ends beyond sent() was never seen.
  uint64_t enqueued() const { return sent_bytes_ + out_.size(); }
  uint64_t sent() const { return sent_bytes_; }
  // Takes what the socket has into waiting(). False: there was nothing.
  base::Result<bool> receive();
  std::deque<Message>& waiting() { return waiting_; }

 private:
  using Clock = std::chrono::steady_clock;
  using Deadline = std::optional<Clock::time_point>;
  template <typename Link>
  friend class ReplyWait;

  Connection() = default;
  base::Result<void> say_hello(const Options& options);
  // Sends all of it, or fails.
  Sent send_all(Deadline until);
  // Waits until something was received. False: nothing came in time, or also_fd is readable.
  base::Result<bool> wait_and_receive(Deadline until, int also_fd = -1);
  base::Result<void> sort_lines();
  base::Error lost(const std::string& why);
  // After a send that failed: why it did may be here already.
  void read_last_line();
  CallFailure lost_call(CallFailure::Fate fate) const;

  // Nothing here refers to the object's own place: it can be moved.
  base::UniqueFd fd_;
  wire::LineReader in_;
  std::string out_;
  uint64_t sent_bytes_ = 0;
  wire::Welcome welcome_;
  bool welcomed_ = false;
  std::deque<Message> waiting_;
  uint64_t last_id_ = 0;
  std::string lost_why_;  // empty: connected
  bool stopped_ = false;
};

// A daemon that answers, or why there is none. Never starts one.
struct Probe {
  bool reachable = false;
  std::string version;
  pid_t pid = 0;
  std::string socket;   // where it is, or would be
  std::string why_not;  // one line that says what to do
};
Probe probe(const base::Folders& folders,
            std::chrono::milliseconds patience = std::chrono::milliseconds(2000));

}  // namespace ttyward::client
