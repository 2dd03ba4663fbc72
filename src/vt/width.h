// How many columns a character takes, and which characters belong together.
#pragma once

#include <cstdint>

namespace ttyward::vt {

// The generated table: pages of 256 code points, a byte each. Four to a byte would take a quarter of the
// room, of which little is ever read, and more time than the reading itself.
struct WidthTable {
  static const uint8_t page_of[0x1100];
  static const uint8_t pages[][256];
};

// 0, 1 or 2. `code_point` is at most U+10FFFF.
inline uint8_t char_width(char32_t code_point) {
  return WidthTable::pages[WidthTable::page_of[code_point >> 8]][code_point & 0xFF];
}

// Follows a text code point by code point and says where extended grapheme
// clusters end (Unicode UAX #29, by utf8proc).
class GraphemeState {
 public:
  // True if `next` starts a new cluster after `previous`. Must be called for each neighbouring pair in order.
  bool breaks_between(char32_t previous, char32_t next);
  void reset() { state_ = 0; }

 private:
  int32_t state_ = 0;
};

// True for a base that U+FE0F turns into an emoji two columns wide.
bool can_be_emoji(char32_t code_point);

}  // namespace ttyward::vt
