#include "base/utf8.h"

namespace ttyward::base {
namespace {

struct Decoded {
  char32_t code_point;
  bool valid;
};

Decoded decode_one(std::string_view text, size_t& pos) {
  const auto byte_at = [text](size_t i) { return static_cast<uint8_t>(text[i]); };
  const uint8_t first = byte_at(pos++);
  if (first < 0x80) return {first, true};
  const Utf8Lead lead = utf8_lead(first);
  if (lead.following == 0) return {kReplacementCharacter, false};
  char32_t value = lead.payload;
  uint8_t low = lead.low;
  uint8_t high = lead.high;
  for (uint8_t i = 0; i < lead.following; i++) {
    if (pos >= text.size() || byte_at(pos) < low || byte_at(pos) > high)
      return {kReplacementCharacter, false};
    value = (value << 6) | (byte_at(pos++) & 0x3F);
    low = 0x80;
    high = 0xBF;
  }
  return {value, true};
}

}  // namespace

char32_t decode_utf8(std::string_view text, size_t& pos) {
  return decode_one(text, pos).code_point;
}

bool is_valid_utf8(std::string_view text) {
  for (size_t pos = 0; pos < text.size();) {
    if (!decode_one(text, pos).valid) return false;
  }
  return true;
}

}  // namespace ttyward::base
