// What goes over a link's own socket, here: the same frames as over the stream, on channel 0. Questions and
// files are passed on to the relay; these are for the link itself.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "relay/place_name.h"
#include "relay/protocol.h"

namespace ttyward::relay {

// As Type, outside of what goes over the stream.
inline constexpr auto kGetState =
    static_cast<Type>(40);  // u8 whether to wait for a link, or for why there is none
inline constexpr auto kState = static_cast<Type>(170);  // the answer; with tag 0, whenever it changes

struct LinkState {
  enum class Kind : uint8_t { Idle, Connecting, Linked, Lost, Failed };
  Kind kind = Kind::Idle;
  std::string why;                                                   // Lost, Failed
  ConnectProblem::Kind problem = ConnectProblem::Kind::Unreachable;  // the same
  uint64_t since_unix_ms = 0;                                        // Lost
  uint32_t terminals = 0;
  std::optional<WelcomeMessage> welcome;  // of this link, or the one before

  std::string encode() const;
  static std::optional<LinkState> decode(std::string_view payload);
};

// Files of a place's link, in the folder of the sockets.
inline std::string ask_socket(const PlaceName& place) {
  return place.key() + ".place";
}
inline std::string launch_socket(const PlaceName& place) {
  return place.key() + ".launch";
}

}  // namespace ttyward::relay
