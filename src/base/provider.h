// How a terminal's process is connected to us: by a pseudo terminal, or by pipes.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>

namespace ttyward::base {

enum class Provider : uint8_t { Pty, Pipe };
inline constexpr const char* kProviderNames[] = {"pty", "pipe"};

constexpr const char* provider_name(Provider provider) {
  return kProviderNames[static_cast<size_t>(provider)];
}
// For codecs, which find it by the type.
constexpr std::array<std::string_view, 2> names_of(Provider) {
  return {kProviderNames[0], kProviderNames[1]};
}

}  // namespace ttyward::base
