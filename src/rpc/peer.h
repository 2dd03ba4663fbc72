// One conversation in JSON-RPC 2.0: requests in both directions, each side with ids of its own.
//
// Flow at a glance:
//   transport ─ bytes ─► LineReader ─► parse ─► Peer::receive ─► Handler (what the methods mean)
//        ▲                                          │ Request
//        └──────── Outlet ◄──── reply, ask, notify ─┘
//
// A request that arrives becomes a Request; its answer goes to the outlet it came with. A request of ours
// goes out by call() or Request::ask, and its answer comes back to a callback. Protocols differ in how a
// request is cancelled, and whether a cancelled one is answered; Dialect says.
//
// Thread rule: the loop thread. Destroying a peer cancels what is in flight.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <string>

#include "io/loop.h"
#include "rpc/message.h"
#include "rpc/outlet.h"
#include "rpc/request.h"

namespace ttyward::rpc {

struct Dialect {
  // The notification that withdraws a request: {"requestId": ID}.
  std::string cancel_method;
  // What becomes of a request that the other side withdrew: MCP wants silence, ACP an error all the same.
  enum class Cancelled { IsSilent, IsAnswered };
  Cancelled cancelled = Cancelled::IsSilent;
};

// What the methods mean.
class Handler {
 public:
  virtual ~Handler() = default;
  virtual void on_request(const RequestPtr& request) = 0;
  // Every notification but the cancelling one.
  virtual void on_notification(const Message& message) = 0;
  // False: this request goes on although the other side withdrew it.
  virtual bool may_cancel(const Request&) const { return true; }
};

// What a transport carries.
class Conversation {
 public:
  virtual ~Conversation() = default;
  // Every message of the other side. Answers go to `outlet`.
  virtual void receive(Message message, const std::shared_ptr<Outlet>& outlet) = 0;
  // Calls `idle` once nothing but streams is in flight; at once if nothing is.
  virtual void when_idle(std::function<void()> idle) = 0;
  virtual void cancel_all() = 0;
};

class Peer final : public std::enable_shared_from_this<Peer>, public Conversation {
 public:
  // Makes the object for a request that arrived; the peer fills in what every request has.
  using MakeRequest = std::function<RequestPtr(const Message& message)>;
  enum class Batches { Refused, Taken };

  // `unsolicited` takes what belongs to no request of the other side: our own requests and notifications.
  Peer(io::Loop& loop, Dialect dialect, Handler& handler, std::shared_ptr<Outlet> unsolicited);
  ~Peer() override;

  void receive(Message message, const std::shared_ptr<Outlet>& outlet) override;
  void receive(Message message, const std::shared_ptr<Outlet>& outlet, const MakeRequest& make);
  void set_batches(Batches batches) { batches_ = batches; }

  // Sends a request. `done` is called once, unless the request is withdrawn.
  Withdraw call(const std::string& method, json::object params, OnAnswer done);
  void notify(const std::string& method, json::object params);

  void cancel_all() override;
  void when_idle(std::function<void()> idle) override;

 private:
  static constexpr size_t kMaxInFlight = 1024;  // one more is refused

  class BatchOutlet;
  void take_request(Message message, const std::shared_ptr<Outlet>& outlet, const MakeRequest& make);
  void take_batch(json::array batch, const std::shared_ptr<Outlet>& outlet, const MakeRequest& make);
  void take_notification(const Message& message);
  void take_response(Message message);
  void set_carrier(Request& request, const std::string& key, const std::shared_ptr<Outlet>& outlet);
  Withdraw ask(const std::string& method, json::object params, const std::shared_ptr<Outlet>& outlet,
               OnAnswer done);
  bool is_idle() const;

  io::Loop& loop_;
  const Dialect dialect_;
  Handler& handler_;
  const std::shared_ptr<Outlet> unsolicited_;
  Batches batches_ = Batches::Refused;
  std::map<std::string, RequestPtr> in_flight_;  // by the id as JSON text: 1 and "1" differ
  std::map<int64_t, OnAnswer> asked_;
  int64_t last_ask_ = 0;
  std::function<void()> idle_;
};

}  // namespace ttyward::rpc
