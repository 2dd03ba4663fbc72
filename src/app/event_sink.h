// Where events go: the daemon's socket, or whatever else listens.
#pragma once

#include <cstdint>
#include <functional>

#include "wire/types/events.h"

namespace ttyward::app {

class EventSink {
 public:
  // If the connection is gone, the event is dropped.
  virtual void event(uint64_t connection, uint64_t subscription, const wire::AnyEvent& event) = 0;
  // Its reader does not keep up: nothing that can wait is to be sent.
  virtual bool must_pause(uint64_t connection) const = 0;
  // Calls back once, when everything was read. Never, if the connection ends first.
  virtual void on_drained(uint64_t connection, std::function<void()> callback) = 0;

 protected:
  ~EventSink() = default;
};

}  // namespace ttyward::app
