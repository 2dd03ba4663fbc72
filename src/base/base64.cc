#include "base/base64.h"

#include <array>
#include <cstddef>
#include <cstdint>

namespace ttyward::base {
namespace {

constexpr std::string_view kDigits = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
constexpr uint8_t kNoDigit = 0xFF;

constexpr auto kValues = [] {
  std::array<uint8_t, 256> values{};
  values.fill(kNoDigit);
  for (size_t i = 0; i < kDigits.size(); ++i) {
    values[static_cast<unsigned char>(kDigits[i])] = static_cast<uint8_t>(i);
  }
  return values;
}();

uint32_t byte_at(std::string_view bytes, size_t at) {
  return at < bytes.size() ? static_cast<unsigned char>(bytes[at]) : 0;
}

}  // namespace

std::string to_base64(std::string_view bytes) {
  std::string text;
  text.reserve((bytes.size() + 2) / 3 * 4);
  for (size_t at = 0; at < bytes.size(); at += 3) {
    const uint32_t group =
        (byte_at(bytes, at) << 16) | (byte_at(bytes, at + 1) << 8) | byte_at(bytes, at + 2);
    const size_t digits = bytes.size() - at >= 3 ? 4 : bytes.size() - at + 1;
    for (size_t i = 0; i < 4; ++i) {
      text += i < digits ? kDigits[(group >> (18 - 6 * i)) & 0x3F] : '=';
    }
  }
  return text;
}

std::optional<std::string> from_base64(std::string_view text) {
  if (text.size() % 4 != 0) return std::nullopt;
  std::string bytes;
  bytes.reserve(text.size() / 4 * 3);
  for (size_t at = 0; at < text.size(); at += 4) {
    const bool last = at + 4 == text.size();
    size_t padding = 0;
    if (last && text[at + 3] == '=') padding = text[at + 2] == '=' ? 2 : 1;
    uint32_t group = 0;
    for (size_t i = 0; i < 4 - padding; ++i) {
      const uint8_t value = kValues[static_cast<unsigned char>(text[at + i])];
      if (value == kNoDigit) return std::nullopt;
      group |= uint32_t{value} << (18 - 6 * i);
    }
    // One text per value: bits beyond the last byte are zero.
    if ((group & ((1U << (8 * padding)) - 1)) != 0) return std::nullopt;
    for (size_t i = 0; i < 3 - padding; ++i) bytes += static_cast<char>((group >> (16 - 8 * i)) & 0xFF);
  }
  return bytes;
}

}  // namespace ttyward::base
