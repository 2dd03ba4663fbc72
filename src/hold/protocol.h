// What goes over a holder's socket. docs/protocol/holder.md is the prose.
// Pure: bytes to messages and back, no descriptor in here.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "hold/frame.h"

namespace ttyward::hold {

inline constexpr uint32_t kProtocolVersion = 1;
inline constexpr uint32_t kHelloMagic = 0x31485754;  // "TWH1"
// A longer message closes the connection. Longer input is sent in pieces.
inline constexpr uint32_t kLargestPayload = 64 * 1024;

enum class MessageType : uint16_t {
  // To the holder.
  Hello = 1,
  Input = 2,
  CloseInput = 3,
  Resize = 4,
  Signal = 5,
  Interrupt = 6,
  Terminate = 7,
  GetStatus = 8,
  Watch = 9,
  Grant = 10,
  GetProcesses = 11,
  GetRunState = 12,
  // To a link only: the command ends when this client goes.
  Tie = 13,
  // From the holder.
  Welcome = 128,
  Done = 129,
  Failed = 130,
  Status = 131,
  Output = 132,
  Processes = 133,
  RunState = 134,
  Paused = 140,
  Exited = 141,
  Closed = 142,
  // From the link to another place, which speaks for the holder there.
  Link = 143,
  Lost = 144,
};

using Frame = FrameOf<MessageType>;
using FrameReader = FrameReaderOf<MessageType, kLargestPayload, 0>;

std::string encode(MessageType type, uint32_t tag, std::string_view payload = {});

struct StatusMessage {
  uint32_t state = 0;  // journal::State
  uint32_t provider = 0;
  uint32_t holder_pid = 0;
  uint32_t child_pid = 0;
  uint64_t end = 0;
  uint64_t dropped = 0;
  uint64_t input_waiting = 0;
  uint32_t paused = 0;
  uint32_t has_exit = 0;
  std::string exit;  // 64 bytes of journal::ExitRecord if has_exit
  std::string journal_id;
  std::string fallback_reason;

  std::string encode() const;
  static std::optional<StatusMessage> decode(std::string_view payload);
};

// A terminal in another place, as the link to it says.
struct LinkMessage {
  bool linked = true;
  std::string why;             // not: why
  uint64_t since_unix_ms = 0;  // not: since when

  std::string encode() const;
  static std::optional<LinkMessage> decode(std::string_view payload);
};

}  // namespace ttyward::hold
