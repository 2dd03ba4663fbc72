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

#include "http/exchange.h"
#include "http/guard.h"
#include "mcp/http/event_stream.h"
#include "mcp/peer.h"
#include "mcp/server.h"

namespace ttyward::mcp {

class Endpoint {
 public:
  Endpoint(Server& server, http::Admission admission);
  ~Endpoint();

  void handle(const std::shared_ptr<http::Exchange>& exchange);
  // Ends every stream that stays open by itself, so that a server can end in good order.
  void end_streams();

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

  void post(const std::shared_ptr<http::Exchange>& exchange);
  void post_modern(const std::shared_ptr<http::Exchange>& exchange, rpc::Message message);
  void post_legacy(const std::shared_ptr<http::Exchange>& exchange, rpc::Message message);
  void get(const std::shared_ptr<http::Exchange>& exchange);
  void remove(const std::shared_ptr<http::Exchange>& exchange);
  // Null: refused, and answered.
  Session* session_of(const std::shared_ptr<http::Exchange>& exchange, const json::value& id);
  Session* open_session(const std::shared_ptr<http::Exchange>& exchange, const json::value& id);
  // Ends the session that was used longest ago among those nobody listens to and nothing runs for: clients
  // that died never say goodbye. False: there is none, and one more is refused with 503.
  bool drop_abandoned();
  // Empty: the headers say what the body says.
  std::string header_problem(const http::Request& request, const rpc::Message& message) const;
  void sweep();

  Server& server_;
  const http::Admission admission_;
  std::map<std::string, Session> sessions_;
  std::set<std::shared_ptr<Peer>> modern_;
  io::Loop::TimerId sweep_timer_ = 0;
};

}  // namespace ttyward::mcp
