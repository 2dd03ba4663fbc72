// The handle to one open call.
//
// Copies mean the same call. It may outlive the call, the connection and the
// server: then it does nothing. Thread rule: the loop's thread.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string_view>

#include <boost/json/object.hpp>

#include "wire/types/call_error.h"

namespace ttyward::daemon {

class Responder {
 public:
  // Where the answers go; implemented by the server. Bodies are the text of a JSON object.
  class Sink {
   public:
    virtual void part(uint64_t connection, uint64_t id, std::string_view body) = 0;
    virtual void ok(uint64_t connection, uint64_t id, std::string_view body) = 0;
    virtual void fail(uint64_t connection, uint64_t id, const wire::CallError& error) = 0;

   protected:
    ~Sink() = default;
  };
  struct State {
    Sink* sink = nullptr;  // null once the call is answered or its client is gone
    uint64_t connection = 0;
    uint64_t id = 0;
    std::function<void()> cancelled;
  };

  explicit Responder(std::shared_ptr<State> state) : state_(std::move(state)) {}

  void part_text(std::string_view body) const;
  void part(const boost::json::object& part) const;
  // Any of these ends the call; whatever comes after does nothing.
  void ok_text(std::string_view body) const;
  void ok(const boost::json::object& value) const;
  void fail(const wire::CallError& error) const;
  bool open() const { return state_->sink != nullptr; }
  // Called once, if the client takes the call back or its connection ends; the
  // call is not open any more by then, so there is nothing to answer. One
  // callback per call: the last that was set.
  void on_cancel(std::function<void()> callback) const;

 private:
  std::shared_ptr<State> state_;
};

}  // namespace ttyward::daemon
