// SHA-256 (FIPS 180-4) and a message authentication code made of it (HMAC, RFC 2104).
//
// For short texts: plain code, no special instructions. Pure.
#pragma once

#include <array>
#include <cstdint>
#include <string_view>

namespace ttyward::base {

using Digest = std::array<uint8_t, 32>;

Digest sha256(std::string_view text);
// Only who knows `key` can make it for a text, and tell whether it is the right one.
Digest hmac_sha256(std::string_view key, std::string_view text);

}  // namespace ttyward::base
