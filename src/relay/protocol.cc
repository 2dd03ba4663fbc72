#include "relay/protocol.h"

#include <utility>

namespace ttyward::relay {

std::string encode(Type type, uint16_t channel, uint32_t tag, std::string_view payload) {
  return hold::encode_frame(type, channel, tag, payload);
}

bool MarkerSearch::push(std::string_view bytes) {
  // The marker may be cut anywhere, so all of the noise is kept and looked at from a little before.
  const size_t from = noise_.size() > line_.size() ? noise_.size() - line_.size() : 0;
  noise_.append(bytes);
  const size_t at = noise_.find(line_, from);
  if (at == std::string::npos) return false;
  rest_ = noise_.substr(at + line_.size());
  noise_.resize(at);
  return true;
}

std::string WelcomeMessage::encode() const {
  return Encoder()
      .number(version)
      .string(program)
      .string(system)
      .string(host)
      .string(user)
      .number(uid)
      .string(home)
      .string(shell)
      .string(bash)
      .string(folder)
      .string(boot_id)
      .number(first_process)
      .number(now_unix_ns)
      .strings(environment)
      .take();
}

std::optional<WelcomeMessage> WelcomeMessage::decode(std::string_view payload) {
  Decoder in(payload);
  WelcomeMessage m;
  m.version = in.number<uint32_t>();
  m.program = in.string();
  m.system = in.string();
  m.host = in.string();
  m.user = in.string();
  m.uid = in.number<uint32_t>();
  m.home = in.string();
  m.shell = in.string();
  m.bash = in.string();
  m.folder = in.string();
  m.boot_id = in.string();
  m.first_process = in.number<uint64_t>();
  m.now_unix_ns = in.number<uint64_t>();
  m.environment = in.strings();
  if (!in.complete()) return std::nullopt;
  return m;
}

std::string HeadMessage::encode() const {
  return Encoder()
      .number(created_unix_ns)
      .number(provider)
      .number(flags)
      .number(size)
      .number(child_pid)
      .number(child_started)
      .number(quota)
      .number(overflow)
      .number(input_bytes)
      .number(end)
      .number(holder_pid)
      .string(fallback_reason)
      .take();
}

std::optional<HeadMessage> HeadMessage::decode(std::string_view payload) {
  Decoder in(payload);
  HeadMessage m;
  m.created_unix_ns = in.number<uint64_t>();
  m.provider = in.number<uint32_t>();
  m.flags = in.number<uint32_t>();
  m.size = in.number<uint32_t>();
  m.child_pid = in.number<uint32_t>();
  m.child_started = in.number<uint64_t>();
  m.quota = in.number<uint64_t>();
  m.overflow = in.number<uint32_t>();
  m.input_bytes = in.number<uint64_t>();
  m.end = in.number<uint64_t>();
  m.holder_pid = in.number<uint32_t>();
  m.fallback_reason = in.string();
  if (!in.complete()) return std::nullopt;
  return m;
}

std::string encode_marks(const std::vector<journal::Mark>& marks) {
  Encoder out;
  out.number(static_cast<uint32_t>(marks.size()));
  out.raw(marks.data(), marks.size() * sizeof(journal::Mark));
  return out.take();
}

bool decode_marks(Decoder& in, std::vector<journal::Mark>& marks) {
  const auto count = in.number<uint32_t>();
  if (count > in.rest().size() / sizeof(journal::Mark)) return false;
  marks.resize(count);
  in.raw(marks.data(), count * sizeof(journal::Mark));
  return in.ok();
}

}  // namespace ttyward::relay
