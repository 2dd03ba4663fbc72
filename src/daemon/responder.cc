#include "daemon/responder.h"

#include <utility>

#include "wire/messages.h"

namespace ttyward::daemon {

void Responder::part_text(std::string_view body) const {
  if (state_->sink != nullptr) state_->sink->part(state_->connection, state_->id, body);
}

void Responder::part(const boost::json::object& part) const {
  if (state_->sink != nullptr) part_text(wire::object_text(part));
}

void Responder::ok_text(std::string_view body) const {
  Sink* sink = std::exchange(state_->sink, nullptr);
  state_->cancelled = nullptr;
  if (sink != nullptr) sink->ok(state_->connection, state_->id, body);
}

void Responder::ok(const boost::json::object& value) const {
  if (state_->sink != nullptr) ok_text(wire::object_text(value));
}

void Responder::fail(const wire::CallError& error) const {
  Sink* sink = std::exchange(state_->sink, nullptr);
  state_->cancelled = nullptr;
  if (sink != nullptr) sink->fail(state_->connection, state_->id, error);
}

void Responder::on_cancel(std::function<void()> callback) const {
  if (open()) state_->cancelled = std::move(callback);
}

}  // namespace ttyward::daemon
