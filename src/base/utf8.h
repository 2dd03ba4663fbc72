// UTF-8: encoding one code point, and the strict decoding rules everyone shares.
//
// Decoding follows the Unicode "maximal subpart" practice: every ill-formed
// prefix becomes exactly one U+FFFD, and decoding resumes at the byte that did
// not fit.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace ttyward::base {

inline constexpr char32_t kReplacementCharacter = 0xFFFD;

// Writes 1 to 4 bytes to `out` and returns how many. `code_point` must be a scalar value.
inline size_t encode_utf8(char32_t code_point, char* out) {
  const auto put = [out](size_t i, char32_t v) { out[i] = static_cast<char>(static_cast<unsigned char>(v)); };
  if (code_point < 0x80) {
    put(0, code_point);
    return 1;
  }
  if (code_point < 0x800) {
    put(0, 0xC0 | (code_point >> 6));
    put(1, 0x80 | (code_point & 0x3F));
    return 2;
  }
  if (code_point < 0x10000) {
    put(0, 0xE0 | (code_point >> 12));
    put(1, 0x80 | ((code_point >> 6) & 0x3F));
    put(2, 0x80 | (code_point & 0x3F));
    return 3;
  }
  put(0, 0xF0 | (code_point >> 18));
  put(1, 0x80 | ((code_point >> 12) & 0x3F));
  put(2, 0x80 | ((code_point >> 6) & 0x3F));
  put(3, 0x80 | (code_point & 0x3F));
  return 4;
}

inline void append_utf8(std::string& out, char32_t code_point) {
  char bytes[4];
  out.append(bytes, encode_utf8(code_point, bytes));
}

// What a lead byte promises: how many bytes follow, and the range allowed for the first of them.
struct Utf8Lead {
  uint8_t following;  // 0: not a lead byte of a multi-byte sequence
  uint8_t low;
  uint8_t high;
  uint8_t payload;  // the lead's own bits
};

constexpr Utf8Lead utf8_lead(uint8_t byte) {
  if (byte >= 0xC2 && byte <= 0xDF) return {1, 0x80, 0xBF, static_cast<uint8_t>(byte & 0x1F)};
  if (byte == 0xE0) return {2, 0xA0, 0xBF, 0};
  if (byte == 0xED) return {2, 0x80, 0x9F, 0x0D};
  if (byte >= 0xE1 && byte <= 0xEF) return {2, 0x80, 0xBF, static_cast<uint8_t>(byte & 0x0F)};
  if (byte == 0xF0) return {3, 0x90, 0xBF, 0};
  if (byte == 0xF4) return {3, 0x80, 0x8F, 4};
  if (byte >= 0xF1 && byte <= 0xF3) return {3, 0x80, 0xBF, static_cast<uint8_t>(byte & 0x07)};
  return {0, 0, 0, 0};
}

// The same as a table, by byte.
inline constexpr auto kUtf8Leads = [] {
  std::array<Utf8Lead, 256> leads{};
  for (unsigned i = 0; i < 256; i++) leads[i] = utf8_lead(static_cast<uint8_t>(i));
  return leads;
}();

// Decodes the code point at `text[pos]` and moves `pos` past it; ill-formed input
// gives U+FFFD. `pos` must be less than text.size().
char32_t decode_utf8(std::string_view text, size_t& pos);

bool is_valid_utf8(std::string_view text);

}  // namespace ttyward::base
