// The backend on a connection to the daemon, which is started if it is not there.
//
// Connecting happens on a thread of its own, so that the client is answered while a daemon starts; calls made
// meanwhile wait. Terminals live in the daemon's holders, so a daemon that dies takes nothing with it. When a
// connection breaks it is made again, and calls that were open then go on:
//   - not sent yet, or as good twice as once (client/repeatable.h): sent again. Commands are that, as we
//     choose their ids: a daemon that knows the id follows the command, one that does not never ran it
//   - all others fail with `unavailable`: nobody knows whether they took effect
// Times a call gave are not begun anew. A call that saw kMostAttempts daemons die is given up: it may be why.
//
// Thread rule: the loop thread.
#pragma once

#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>

#include "client/connection.h"
#include "io/loop.h"
#include "mcp/backend.h"

namespace ttyward::mcp {

class SocketBackend final : public Backend, private io::Poller::Handler {
 public:
  SocketBackend(io::Loop& loop, client::Options options);
  ~SocketBackend() override;

  uint64_t call(std::string name, json::object args, OnPart on_part, OnDone on_done) override;
  void cancel(uint64_t call) override;
  void on_event(OnEvent handler) override { on_event_ = std::move(handler); }
  void on_connected(std::function<void()> handler) override { on_connected_ = std::move(handler); }
  void close() override;
  // Begins to connect if there is no connection.
  void connect();

 private:
  struct Call {
    std::string name;
    json::object args;
    OnPart on_part;
    OnDone on_done;
    io::Loop::Clock::time_point begun = io::Loop::Clock::now();
    uint64_t wire_id = 0;  // 0: not sent (again) yet
    int attempts = 0;
  };

  void on_ready(int fd, uint32_t events) override;
  void connected(base::Result<client::Connection> connection);
  void drain();
  void take_part(uint64_t wire_id, json::object part);
  void take_reply(uint64_t wire_id, CallReply reply);
  void send(uint64_t number);
  bool goes_on(Call& call) const;
  void finish(uint64_t number, CallReply reply);
  void broken(const std::string& why);
  void unreachable(const std::string& why);

  io::Loop& loop_;
  client::Options options_;
  std::optional<client::Connection> connection_;
  // Where the connecting thread leaves its result; it may outlive us.
  struct Handover {
    std::mutex mutex;
    SocketBackend* to = nullptr;  // guarded by mutex; null once we are gone
  };
  std::shared_ptr<Handover> handover_ = std::make_shared<Handover>();
  bool is_connecting_ = false;
  bool closed_ = false;
  std::map<uint64_t, Call> calls_;
  std::map<uint64_t, uint64_t> by_wire_id_;
  uint64_t last_ = 0;
  OnEvent on_event_;
  std::function<void()> on_connected_;
  std::shared_ptr<bool> alive_ = std::make_shared<bool>(true);
};

}  // namespace ttyward::mcp
