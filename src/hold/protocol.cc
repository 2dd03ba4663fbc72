#include "hold/protocol.h"

namespace ttyward::hold {

std::string encode(MessageType type, uint32_t tag, std::string_view payload) {
  return encode_frame(type, 0, tag, payload);
}

std::string StatusMessage::encode() const {
  return Encoder()
      .number(state)
      .number(provider)
      .number(holder_pid)
      .number(child_pid)
      .number(end)
      .number(dropped)
      .number(input_waiting)
      .number(paused)
      .number(has_exit)
      .string(exit)
      .string(journal_id)
      .string(fallback_reason)
      .take();
}

std::optional<StatusMessage> StatusMessage::decode(std::string_view payload) {
  Decoder in(payload);
  StatusMessage message;
  message.state = in.number<uint32_t>();
  message.provider = in.number<uint32_t>();
  message.holder_pid = in.number<uint32_t>();
  message.child_pid = in.number<uint32_t>();
  message.end = in.number<uint64_t>();
  message.dropped = in.number<uint64_t>();
  message.input_waiting = in.number<uint64_t>();
  message.paused = in.number<uint32_t>();
  message.has_exit = in.number<uint32_t>();
  message.exit = in.string();
  message.journal_id = in.string();
  message.fallback_reason = in.string();
  if (!in.complete()) return std::nullopt;
  return message;
}

std::string LinkMessage::encode() const {
  return Encoder().number(uint8_t{linked}).string(why).number(since_unix_ms).take();
}

std::optional<LinkMessage> LinkMessage::decode(std::string_view payload) {
  Decoder in(payload);
  LinkMessage message;
  message.linked = in.number<uint8_t>() != 0;
  message.why = in.string();
  message.since_unix_ms = in.number<uint64_t>();
  if (!in.complete()) return std::nullopt;
  return message;
}

}  // namespace ttyward::hold
