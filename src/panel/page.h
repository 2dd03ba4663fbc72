// One page in a browser: what it asks goes to the daemon, on a connection of its own; what the daemon says
// comes back.
//
// Its own connection, so that everything ends with the page: its subscriptions, its attachment, its keyboard.
// The first message is a hello with the page's key. After it the messages are those of the daemon's socket
// (docs/protocol/socket.md), one per WebSocket message; docs/panel.md has what the panel adds.
//
// Thread rule: the loop thread.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include <boost/json/object.hpp>

#include "client/client.h"
#include "http/web_socket.h"
#include "io/loop.h"
#include "panel/screen_merge.h"
#include "panel/sessions.h"

namespace ttyward::panel {

class Page {
 public:
  struct Ties {
    // Null: the key is wrong.
    std::function<std::optional<Role>(std::string_view key)> admit;
    // The address of a new link.
    std::function<std::string(Role role)> make_link;
    std::function<void()> closed;  // from the loop
  };
  // `daemon` says how to connect; the role is the session's.
  Page(io::Loop& loop, std::shared_ptr<http::WebSocket> socket, client::Options daemon, Ties ties);
  ~Page();
  Page(const Page&) = delete;
  Page& operator=(const Page&) = delete;

 private:
  static constexpr std::chrono::seconds kHelloTime{10};
  static constexpr std::chrono::seconds kLookTime{2};  // between looks for a daemon that somebody stopped
  static constexpr size_t kMostCalls = 256;

  void take(std::string_view text);
  void say_hello(const boost::json::object& message);
  enum class Start : uint8_t { Daemon, Nothing };
  void connect(Start what);
  void connected();
  void unreachable(const std::string& why);
  void call(int64_t id, const std::string& name, boost::json::object args);
  void answered(int64_t id, const std::string& name, const client::CallResult& result);
  void take_event(const boost::json::object& event);
  void make_link(int64_t id, const boost::json::object& args);
  void painted(uint64_t subscription);
  void send(const boost::json::object& message);
  void fail(int64_t id, const char* code, const std::string& message);
  void refuse(const char* why);

  io::Loop& loop_;
  std::shared_ptr<http::WebSocket> socket_;
  client::Options daemon_;
  Ties ties_;
  std::optional<Role> role_;     // null: it has not said hello
  Start start_ = Start::Daemon;  // what client_ does where no daemon runs
  std::unique_ptr<client::Client> client_;
  std::map<int64_t, uint64_t> calls_;  // by the page's number, the client's; 0: not known yet
  std::map<uint64_t, ScreenStream> screens_;
  io::Loop::TimerId timer_ = 0;  // for the hello, later between looks for a daemon
  std::shared_ptr<bool> alive_ = std::make_shared<bool>(true);
};

}  // namespace ttyward::panel
