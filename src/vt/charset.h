// Character sets a terminal can swap in for the 94 (or 96) printable codes.
#pragma once

#include <cstdint>

namespace ttyward::vt {

enum class Charset : uint8_t {
  Ascii,
  DecGraphics,
  British,
  Dutch,
  Finnish,
  French,
  FrenchCanadian,
  German,
  Italian,
  NorwegianDanish,
  Spanish,
  Swedish,
  Swiss,
  Latin1,
  DecSupplemental,
  DecTechnical,
};

// What code 0x20..0x7E shows as in `set`.
char32_t translate(Charset set, uint8_t code);

// The set a designating sequence names: `final` after ESC ( and its kin, with an optional
// second intermediate. Unknown ones are ASCII, as xterm shows them.
Charset charset_for(char second_intermediate, char final, bool has_96_codes);

}  // namespace ttyward::vt
