// Small numbers in few bytes: seven bits a byte, low bits first, the top bit says "more follows".
#pragma once

#include <cstddef>
#include <cstdint>

namespace ttyward::vt {

// Writes 1 to 5 bytes and returns how many.
inline size_t write_varint(uint32_t value, uint8_t* out) {
  size_t n = 0;
  while (value >= 0x80) {
    out[n++] = static_cast<uint8_t>(value | 0x80);
    value >>= 7;
  }
  out[n++] = static_cast<uint8_t>(value);
  return n;
}

inline uint32_t read_varint(const uint8_t*& p) {
  uint32_t value = *p & 0x7F;
  for (unsigned shift = 7; (*p++ & 0x80) != 0; shift += 7) value |= static_cast<uint32_t>(*p & 0x7F) << shift;
  return value;
}

}  // namespace ttyward::vt
