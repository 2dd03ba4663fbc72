// Base64 (RFC 4648, section 4): for bytes that travel inside text.
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace ttyward::base {

std::string to_base64(std::string_view bytes);
// Strict: padding required, no line ends, no other characters, no bits left over. nullopt: it is not base64.
std::optional<std::string> from_base64(std::string_view text);

}  // namespace ttyward::base
