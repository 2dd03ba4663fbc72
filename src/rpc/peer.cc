#include "rpc/peer.h"

#include <algorithm>
#include <utility>

namespace ttyward::rpc {
namespace {

std::string key_of(const json::value& id) {
  return json::serialize(id);
}

RequestPtr plain_request(const Message&) {
  return std::make_shared<Request>();
}

Answer answer_of(Message& message) {
  Answer answer;
  answer.result = std::move(message.result);
  if (answer.result) return answer;
  answer.code = static_cast<int>(integer_at(message.error, "code").value_or(0));
  answer.error = text_or(message.error, "message", "the answer is an error without a message");
  return answer;
}

}  // namespace

// Gathers the answers to a batch. It is held by the requests of the batch, so it sends what it has when the
// last of them is gone, answered or cancelled.
class Peer::BatchOutlet final : public Outlet {
 public:
  explicit BatchOutlet(std::shared_ptr<Outlet> to) : to_(std::move(to)) {}
  ~BatchOutlet() override { flush(); }

  void expect_answer() { ++open_; }
  // The whole batch was looked at.
  void complete() {
    complete_ = true;
    flush();
  }
  void send(const json::object& message, Last last) override {
    if (last == Last::No) return to_->send(message, last);
    answers_.push_back(message);
    one_less();
  }
  void close() override { one_less(); }

 private:
  void one_less() {
    if (open_ > 0) --open_;
    flush();
  }
  void flush() {
    if (!complete_ || open_ > 0 || sent_) return;
    sent_ = true;
    if (answers_.empty()) return to_->close();
    to_->send_batch(answers_);
  }

  const std::shared_ptr<Outlet> to_;
  json::array answers_;
  size_t open_ = 0;
  bool complete_ = false;
  bool sent_ = false;
};

Peer::Peer(io::Loop& loop, Dialect dialect, Handler& handler, std::shared_ptr<Outlet> unsolicited)
    : loop_(loop), dialect_(std::move(dialect)), handler_(handler), unsolicited_(std::move(unsolicited)) {}

Peer::~Peer() {
  cancel_all();
}

void Peer::cancel_all() {
  for (const auto& [key, request] : std::exchange(in_flight_, {})) request->cancel();
  for (const auto& [id, done] : std::exchange(asked_, {})) done(Answer::failed("the client disconnected"));
}

bool Peer::is_idle() const {
  return std::all_of(in_flight_.begin(), in_flight_.end(),
                     [](const auto& entry) { return entry.second->is_stream; });
}

void Peer::when_idle(std::function<void()> idle) {
  if (is_idle()) return idle();
  idle_ = std::move(idle);
}

void Peer::receive(Message message, const std::shared_ptr<Outlet>& outlet) {
  receive(std::move(message), outlet, plain_request);
}

void Peer::receive(Message message, const std::shared_ptr<Outlet>& outlet, const MakeRequest& make) {
  switch (message.kind) {
    case Kind::Bad:
      return outlet->send(error_response(message.id, std::move(message.error)), Last::Yes);
    case Kind::Notification:
      take_notification(message);
      return outlet->close();
    case Kind::Response:
      take_response(std::move(message));
      return outlet->close();
    case Kind::Request:
      return take_request(std::move(message), outlet, make);
    case Kind::Batch:
      return take_batch(std::move(message.batch), outlet, make);
  }
}

void Peer::take_batch(json::array batch, const std::shared_ptr<Outlet>& outlet, const MakeRequest& make) {
  if (batches_ == Batches::Refused) {
    return outlet->send(error_response(nullptr, error_object(kInvalidRequest,
                                                             "batches are not part of this protocol version: "
                                                             "send one message at a time")),
                        Last::Yes);
  }
  const auto together = std::make_shared<BatchOutlet>(outlet);
  for (json::value& each : batch) {
    Message message = classify(std::move(each));
    // Counted before it is handled: a request may be answered at once, and the batch must not be sent then.
    if (message.kind == Kind::Request || message.kind == Kind::Bad) together->expect_answer();
    if (message.kind == Kind::Notification) {
      take_notification(message);
    } else if (message.kind == Kind::Response) {
      take_response(std::move(message));
    } else {
      receive(std::move(message), together, make);
    }
  }
  together->complete();
}

void Peer::set_carrier(Request& request, const std::string& key, const std::shared_ptr<Outlet>& outlet) {
  const std::weak_ptr<Peer> weak = weak_from_this();
  request.carrier.finish = [weak, outlet, key](const json::object& response) {
    const auto peer = weak.lock();
    // Before the answer is sent: the client may use the id again as soon as it has the answer.
    if (peer) peer->in_flight_.erase(key);
    outlet->send(response, Last::Yes);
    if (peer && peer->idle_ && peer->is_idle()) std::exchange(peer->idle_, nullptr)();
  };
  request.carrier.notify = [outlet](const json::object& note) { outlet->send(note, Last::No); };
  request.carrier.dropped = [outlet] { outlet->close(); };
  request.carrier.pause = [outlet] { outlet->pause(); };
  request.carrier.ask = [weak, outlet](const std::string& method, json::object params,
                                       OnAnswer done) -> Withdraw {
    if (const auto peer = weak.lock()) return peer->ask(method, std::move(params), outlet, std::move(done));
    done(Answer::failed("the client disconnected"));
    return [] {};
  };
}

void Peer::take_request(Message message, const std::shared_ptr<Outlet>& outlet, const MakeRequest& make) {
  const std::string key = key_of(message.id);
  const auto refuse = [&](int code, const char* why) {
    outlet->send(error_response(message.id, error_object(code, why)), Last::Yes);
  };
  if (in_flight_.contains(key))
    return refuse(kInvalidRequest, "this id belongs to a request that is not answered yet");
  if (in_flight_.size() >= kMaxInFlight)
    return refuse(kInternalError, "too many requests at once: wait for some answers");
  const RequestPtr request = make(message);
  request->id = std::move(message.id);
  request->method = std::move(message.method);
  request->params = std::move(message.params);
  request->loop = &loop_;
  set_carrier(*request, key, outlet);
  in_flight_[key] = request;
  handler_.on_request(request);
}

void Peer::take_notification(const Message& message) {
  if (message.method != dialect_.cancel_method) return handler_.on_notification(message);
  const json::value* id = member(message.params, "requestId");
  const auto found = id != nullptr ? in_flight_.find(key_of(*id)) : in_flight_.end();
  if (found == in_flight_.end() || !handler_.may_cancel(*found->second)) return;
  const RequestPtr request = found->second;
  if (dialect_.cancelled == Dialect::Cancelled::IsAnswered) {
    const std::shared_ptr<Peer> self = shared_from_this();
    const auto finish = request->carrier.finish;
    request->carrier.dropped = [finish, answered = request->id] {
      finish(error_response(answered, error_object(kRequestCancelled, "the request was cancelled")));
    };
    return request->cancel();
  }
  in_flight_.erase(found);
  request->cancel();
  if (idle_ && is_idle()) std::exchange(idle_, nullptr)();
}

void Peer::take_response(Message message) {
  if (!message.id.is_int64()) return;
  const auto found = asked_.find(message.id.get_int64());
  if (found == asked_.end()) return;
  const OnAnswer done = std::move(found->second);
  asked_.erase(found);
  done(answer_of(message));
}

Withdraw Peer::call(const std::string& method, json::object params, OnAnswer done) {
  return ask(method, std::move(params), unsolicited_, std::move(done));
}

void Peer::notify(const std::string& method, json::object params) {
  unsolicited_->send(notification(method, std::move(params)), Last::No);
}

Withdraw Peer::ask(const std::string& method, json::object params, const std::shared_ptr<Outlet>& outlet,
                   OnAnswer done) {
  const int64_t id = ++last_ask_;
  asked_[id] = std::move(done);
  outlet->send(rpc::request(id, method, std::move(params)), Last::No);
  return [weak = weak_from_this(), outlet, id] {
    const auto peer = weak.lock();
    if (!peer || peer->asked_.erase(id) == 0) return;
    outlet->send(notification(peer->dialect_.cancel_method,
                              {{"requestId", id}, {"reason", "it was answered elsewhere"}}),
                 Last::No);
  };
}

}  // namespace ttyward::rpc
