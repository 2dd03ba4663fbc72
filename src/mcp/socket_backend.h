// The backend on a connection to the daemon, which is started if it is not there.
//
// Connecting happens on a thread of its own, so that the client is answered while a daemon starts; calls made
// meanwhile wait. A connection that breaks fails its calls and is made again with the next one: terminals
// live in the daemon's holders and are still there.
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
    uint64_t wire_id = 0;  // 0: not sent yet
  };

  void on_ready(int fd, uint32_t events) override;
  void connected(base::Result<client::Connection> connection);
  void drain();
  void send(uint64_t number);
  void finish(uint64_t number, CallReply reply);
  void lost(const std::string& why);

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
