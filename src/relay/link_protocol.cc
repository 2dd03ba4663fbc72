#include "relay/link_protocol.h"

namespace ttyward::relay {

std::string LinkState::encode() const {
  Encoder out;
  out.number(static_cast<uint8_t>(kind)).string(why).number(static_cast<uint8_t>(problem));
  out.number(since_unix_ms).number(terminals);
  out.string(welcome ? welcome->encode() : "");
  return out.take();
}

std::optional<LinkState> LinkState::decode(std::string_view payload) {
  Decoder in(payload);
  LinkState state;
  const auto kind = in.number<uint8_t>();
  state.why = in.string();
  const auto problem = in.number<uint8_t>();
  state.since_unix_ms = in.number<uint64_t>();
  state.terminals = in.number<uint32_t>();
  state.welcome = WelcomeMessage::decode(in.string());
  if (!in.complete() || kind > static_cast<uint8_t>(Kind::Failed) ||
      problem > static_cast<uint8_t>(ConnectProblem::Kind::Unsupported)) {
    return std::nullopt;
  }
  state.kind = static_cast<Kind>(kind);
  state.problem = static_cast<ConnectProblem::Kind>(problem);
  return state;
}

}  // namespace ttyward::relay
