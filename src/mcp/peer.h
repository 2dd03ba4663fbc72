// One conversation: everything on one stdio, one legacy HTTP session, or one modern HTTP request.
//
// Knows what the client said about itself, what is in flight, and what the client wants to hear of. The era
// is chosen per request: one that names its protocol version in _meta is modern, all others belong to the
// session that `initialize` opened. Both may come over one stdio, in any order.
//
// Thread rule: the loop thread. Ending it cancels what is in flight.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>

#include "mcp/outlet.h"
#include "mcp/request.h"
#include "mcp/rpc.h"
#include "mcp/server.h"

namespace ttyward::mcp {

Era era_of(const rpc::Message& message);

class Peer : public std::enable_shared_from_this<Peer> {
 public:
  // `unsolicited` takes what belongs to no request: list changes, resource updates.
  Peer(Server& server, std::string name, std::shared_ptr<Outlet> unsolicited);
  ~Peer();

  // Every message of the client. Answers to a request go to `outlet`.
  void receive(rpc::Message message, const std::shared_ptr<Outlet>& outlet) {
    const Era era = era_of(message);
    receive(std::move(message), era, outlet);
  }
  void receive(rpc::Message message, Era era, const std::shared_ptr<Outlet>& outlet);

  bool initialized() const { return session_.has_value(); }
  const std::string& version() const { return session_->version; }
  void cancel_all();
  // Calls `idle` once nothing is in flight any more; at once if nothing is.
  void when_idle(std::function<void()> idle);
  // Ends all listen streams with their final answer.
  void end_listening();

 private:
  struct Session {
    std::string version;
    json::object capabilities;
    std::string client_name;
    std::string log_level = "info";
    uint64_t listener = 0;
  };

  void start(const rpc::Message& message, Era era, const std::shared_ptr<Outlet>& outlet);
  void notified(const rpc::Message& message);
  void answered(const rpc::Message& message);
  RequestPtr make_request(const rpc::Message& message, Era era, const std::shared_ptr<Outlet>& outlet);
  // False: the request was refused, and answered.
  bool fill_modern(const RequestPtr& request);
  bool fill_legacy(const RequestPtr& request);
  void handle(const RequestPtr& request);
  bool handle_legacy(const RequestPtr& request);
  void initialize(const RequestPtr& request);
  void subscribe(const RequestPtr& request);
  void unsubscribe(const RequestPtr& request);
  void listen(const RequestPtr& request);
  Withdraw ask(const std::string& method, json::object params, const std::shared_ptr<Outlet>& outlet,
               std::function<void(Answer)> done);

  Server& server_;
  const std::string name_;
  std::shared_ptr<Outlet> unsolicited_;
  std::optional<Session> session_;
  std::map<std::string, RequestPtr> in_flight_;  // by the id as JSON text: 1 and "1" differ
  struct Listening {
    RequestPtr request;
    uint64_t listener;
    std::set<std::string> uris;
  };
  std::map<std::string, Listening> listening_;
  std::map<int64_t, std::function<void(Answer)>> asked_;
  int64_t last_ask_ = 0;
  std::function<void()> idle_;
};

}  // namespace ttyward::mcp
