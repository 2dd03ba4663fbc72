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
#include <string>

#include "mcp/request.h"
#include "mcp/server.h"
#include "rpc/peer.h"

namespace ttyward::mcp {

using rpc::Last;
using rpc::Outlet;

Era era_of(const rpc::Message& message);

class Peer final : public rpc::Conversation, private rpc::Handler {
 public:
  // `unsolicited` takes what belongs to no request: list changes, resource updates.
  Peer(Server& server, std::string name, std::shared_ptr<Outlet> unsolicited);
  ~Peer() override;

  void receive(rpc::Message message, const std::shared_ptr<Outlet>& outlet) override;
  // With the era that the transport knows from elsewhere.
  void receive(rpc::Message message, Era era, const std::shared_ptr<Outlet>& outlet);

  bool initialized() const { return session_.has_value(); }
  const std::string& version() const { return session_->version; }
  bool takes_batches() const;
  void cancel_all() override { rpc_->cancel_all(); }
  void when_idle(std::function<void()> idle) override { rpc_->when_idle(std::move(idle)); }
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

  void on_request(const rpc::RequestPtr& request) override;
  void on_notification(const rpc::Message&) override {}  // none of them asks for anything
  bool may_cancel(const rpc::Request& request) const override { return request.method != "initialize"; }
  // False: the request was refused, and answered.
  bool fill_modern(const RequestPtr& request);
  bool fill_legacy(const RequestPtr& request);
  void handle(const RequestPtr& request);
  bool handle_legacy(const RequestPtr& request);
  void initialize(const RequestPtr& request);
  void subscribe(const RequestPtr& request);
  void unsubscribe(const RequestPtr& request);
  void listen(const RequestPtr& request);

  Server& server_;
  const std::string name_;
  std::shared_ptr<Outlet> unsolicited_;
  std::optional<Session> session_;
  std::map<uint64_t, RequestPtr> listening_;  // streams, by their listener at Notices
  std::shared_ptr<rpc::Peer> rpc_;
};

}  // namespace ttyward::mcp
