// Who a client is: what it may do follows from this.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string_view>

namespace ttyward::wire {

enum class Role : uint8_t {
  Agent,     // runs, reads, waits; never answers an approval or changes policy
  Person,    // everything
  Viewer,    // reads only
  Dialogue,  // hands on what a person said in the dialogue of an agent's client; nothing else
};

inline constexpr std::array<std::string_view, 4> kRoleNames = {"agent", "person", "viewer", "dialogue"};

constexpr std::string_view role_name(Role role) {
  return kRoleNames[static_cast<size_t>(role)];
}

constexpr std::optional<Role> role_named(std::string_view name) {
  for (size_t i = 0; i < kRoleNames.size(); i++) {
    if (kRoleNames[i] == name) return static_cast<Role>(i);
  }
  return std::nullopt;
}

}  // namespace ttyward::wire
