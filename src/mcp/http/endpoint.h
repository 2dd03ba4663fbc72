// The Streamable HTTP endpoint: what a POST, GET or DELETE means, in both eras.
//
//   modern  POST only; headers repeat what the body says and must agree; every request stands alone, and
//   closing
//           its response cancels it
//   legacy  initialize opens a session (Mcp-Session-Id); a broken response can be fetched again by GET with
//           Last-Event-ID; DELETE ends the session
//
// Thread rule: the loop thread.
#pragma once

#include <chrono>
#include <cstdint>
#include <map>
#include <memory>
#include <set>
#include <string>

#include "mcp/http/connection.h"
#include "mcp/http/event_stream.h"
#include "mcp/peer.h"
#include "mcp/server.h"

namespace ttyward::mcp::http {

class Endpoint {
 public:
  // An empty token asks for none.
  Endpoint(Server& server, int port, std::string token);
  ~Endpoint();

  void handle(const std::shared_ptr<Exchange>& exchange);

 private:
  static constexpr size_t kMaxSessions = 128;              // one more takes the place of an abandoned one
  static constexpr size_t kMaxStreams = 64;                // finished ones kept per session for coming back
  static constexpr std::chrono::minutes kSessionIdle{60};  // without a request or an open stream

  struct Session {
    std::string id;
    std::shared_ptr<Peer> peer;
    std::shared_ptr<EventStream> news;  // what belongs to no request; stream 0
    std::map<uint64_t, std::shared_ptr<EventStream>> streams;
    uint64_t last_stream = 0;
    io::Loop::Clock::time_point used;
  };

  void post(const std::shared_ptr<Exchange>& exchange);
  void post_modern(const std::shared_ptr<Exchange>& exchange, rpc::Message message);
  void post_legacy(const std::shared_ptr<Exchange>& exchange, rpc::Message message);
  void get(const std::shared_ptr<Exchange>& exchange);
  void remove(const std::shared_ptr<Exchange>& exchange);
  // Null: refused, and answered.
  Session* session_of(const std::shared_ptr<Exchange>& exchange, const json::value& id);
  Session* open_session(const std::shared_ptr<Exchange>& exchange, const json::value& id);
  // Ends the session that was used longest ago among those nobody listens to and nothing runs for: clients
  // that died never say goodbye. False: there is none, and one more is refused with 503.
  bool drop_abandoned();
  // Empty: the headers say what the body says.
  std::string header_problem(const HttpRequest& request, const rpc::Message& message) const;
  void sweep();

  Server& server_;
  const int port_;
  const std::string token_;
  std::map<std::string, Session> sessions_;
  std::set<std::shared_ptr<Peer>> modern_;
  io::Loop::TimerId sweep_timer_ = 0;
};

}  // namespace ttyward::mcp::http
