// A WebSocket that a client opened (RFC 6455). Messages are not compressed: they are small, and
// compressing secrets beside chosen text leaks them.
//
// Thread rule: the loop thread.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <string_view>

namespace ttyward::http {

class WebSocket {
 public:
  enum class Kind { Text, Binary };
  static constexpr uint16_t kNormal = 1000;
  static constexpr uint16_t kGoingAway = 1001;
  static constexpr uint16_t kPolicy = 1008;  // the client breaks a rule of ours

  virtual ~WebSocket() = default;

  // Set them at once: messages come from the next turn of the loop on.
  std::function<void(std::string_view message, Kind kind)> on_message;
  // Called once, however it ended. `code` is what the client gave as reason, 1006 if it gave none.
  std::function<void(uint16_t code)> on_closed;
  // Everything that was sent is with the kernel. A sender that waits for this never queues what is stale.
  std::function<void()> on_drained;

  // Discarded once the socket is closed. A client that lets too much wait is disconnected.
  virtual void send(std::string message, Kind kind) = 0;
  // Bytes that wait to be sent.
  virtual size_t unsent() const = 0;
  virtual void close(uint16_t code, std::string reason) = 0;
};

}  // namespace ttyward::http
