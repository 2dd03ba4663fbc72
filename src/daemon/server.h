// The daemon's socket: many clients, each of which may be slow, broken or hostile
// without anybody else noticing. docs/protocol/socket.md is the contract.
//
// Flow at a glance: bytes → LineReader → wire::parse_from_client → CallHandler::call;
// answers come back through a Responder, at any time, in any order, and wait in the
// connection's own bounded buffer. A client that sends faster than it reads is not
// read from; one that does not read at all is disconnected. Nothing ever blocks.
//
// Thread rule: the loop's thread.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <string_view>

#include <boost/json/object.hpp>

#include "base/result.h"
#include "base/unique_fd.h"
#include "daemon/call_handler.h"
#include "daemon/connection.h"
#include "daemon/listener.h"
#include "daemon/responder.h"
#include "io/log.h"
#include "io/loop.h"
#include "wire/messages.h"

namespace ttyward::daemon {

// The bounds; tests make them smaller.
struct Limits {
  size_t connections = 256;                   // one more is told so and closed
  size_t open_calls = 1024;                   // per connection; one more is answered `exhausted`
  size_t open_call_bytes = size_t{64} << 20;  // of their lines, per connection; the same
  size_t pause_backlog = size_t{8} << 20;     // unread answers, after which a client is not read from
  size_t largest_backlog = size_t{64} << 20;  // after which it is disconnected
  size_t total_backlog = size_t{512} << 20;   // of all together; who adds to more is disconnected
  size_t hello_bytes = size_t{64} << 10;      // longest first line
  size_t unparsed_bytes = size_t{256} << 20;  // of half lines, all connections together
  uint32_t calls_per_second = 10'000;         // per connection; one that is faster is read from later
  std::chrono::milliseconds hello_patience{10'000};
  std::chrono::milliseconds farewell_patience{10'000};  // for a rejected client to read why
};

class Server final : private io::Poller::Handler, private Responder::Sink {
 public:
  static base::Result<std::unique_ptr<Server>> listen(io::Loop& loop, Listener listener, CallHandler& handler,
                                                      io::Log& log, Limits limits = {});
  Server(const Server&) = delete;
  Server& operator=(const Server&) = delete;
  ~Server();

  // `event` has its "event" and "subscription" members. Unknown connections are
  // not an error: it may have ended a moment ago.
  void send_event(uint64_t connection, const boost::json::object& event);
  // The same, as the text of that object.
  void send_event_text(uint64_t connection, std::string event);
  // Bytes of answers and events that the client has not read.
  size_t backlog(uint64_t connection) const;
  bool must_pause(uint64_t connection) const { return backlog(connection) > limits_.pause_backlog; }
  // Calls back once, when everything was read; soon, if it is so already. Never,
  // if the connection ends first.
  void on_drained(uint64_t connection, std::function<void()> callback);

  size_t connections() const { return connections_.size(); }
  // From now on; calls that are open stay open.
  void set_open_calls(size_t per_connection) { limits_.open_calls = per_connection; }
  size_t open_calls() const;
  bool has_unsent() const;
  // What every welcome says: differs between any two starts.
  const std::string& id() const { return id_; }

  const Listener& listener() const { return listener_; }
  // Listens there instead; connections stay.
  base::Result<void> replace_listener(Listener listener);
  // No new connections and no new calls from now on; what is open is answered still.
  void close_listener();
  // Answers every call that is still open with this, and ends every connection with it.
  void dismiss_all(const wire::CallError& error);

 private:
  Server(io::Loop& loop, Listener listener, CallHandler& handler, io::Log& log, Limits limits);

  void on_ready(int fd, uint32_t events) override;
  void part(uint64_t connection, uint64_t id, std::string_view body) override;
  void ok(uint64_t connection, uint64_t id, std::string_view body) override;
  void fail(uint64_t connection, uint64_t id, const wire::CallError& error) override;

  void drop_listener();
  void accept_all();
  void admit(base::UniqueFd fd);
  void receive(Connection& from);
  void handle_lines(Connection& from);
  void handle(Connection& from, const std::string& line);
  void greet(Connection& from, const wire::Hello& hello);
  void open_call(Connection& from, wire::Call call, size_t bytes);
  void cancel(Connection& from, uint64_t id);
  Admission judge(Connection& from, Role asked, const wire::Hello& hello);

  Connection* find(uint64_t number);
  const Connection* find(uint64_t number) const;
  void answer(uint64_t connection, uint64_t id, std::string line);
  void send(Connection& to, std::string line);
  bool fits(const Connection& to, size_t bytes) const;
  void send_last(Connection& to, const std::string& line);
  void flush(Connection& to);
  void watch(Connection& of);
  // One error line, then the end.
  void reject(Connection& from, const wire::CallError& error);
  void mark_for_removal(Connection& connection, const std::string& why);
  void remove_marked();

  io::Loop& loop_;
  CallHandler& handler_;
  io::Log& log_;
  Limits limits_;
  std::string id_;
  Listener listener_;
  std::map<int, std::unique_ptr<Connection>> connections_;  // by descriptor
  std::map<uint64_t, Connection*> by_number_;
  uint64_t last_number_ = 0;
  size_t unparsed_ = 0;
  bool removal_due_ = false;
  bool stopping_ = false;
  // Posted work asks this first: the server may be gone by then.
  std::shared_ptr<Server*> self_ = std::make_shared<Server*>(this);
};

}  // namespace ttyward::daemon
