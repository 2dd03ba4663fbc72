// The three inner loops of the engine, in the widest form the machine has.
//
// They are chosen once, when the program starts: baseline code for any x86-64
// or ARM machine, AVX2 where the processor has it.
#pragma once

#include <cstddef>
#include <cstdint>

#include "vt/cell.h"

namespace ttyward::vt {

namespace fill {
const uint8_t* find_non_printable_long(const uint8_t* begin, const uint8_t* end);
void widen_long(Cell* cells, const uint8_t* text, size_t n, StyleId style);
void narrow_long(uint8_t* out, const Cell* cells, size_t n);
}  // namespace fill

// Runs up to this length are done on the spot: a call costs more than they do.
inline constexpr size_t kShortRun = 8;

// First byte in [begin, end) that is not printable ASCII (0x20..0x7E), or `end`.
inline const uint8_t* find_non_printable(const uint8_t* p, const uint8_t* end) {
  for (size_t i = 0; i < kShortRun; i++, p++) {
    if (p == end || *p < 0x20 || *p > 0x7E) return p;
  }
  return fill::find_non_printable_long(p, end);
}

// cells[i] = {text[i], style}
inline void widen_ascii(Cell* cells, const uint8_t* text, size_t n, StyleId style) {
  if (n > kShortRun) return fill::widen_long(cells, text, n, style);
  for (size_t i = 0; i < n; i++) cells[i] = {text[i], style};
}

// out[i] = low byte of cells[i].content. The cells must hold ASCII or nothing.
inline void narrow_ascii(uint8_t* out, const Cell* cells, size_t n) {
  if (n > kShortRun) return fill::narrow_long(out, cells, n);
  for (size_t i = 0; i < n; i++) out[i] = static_cast<uint8_t>(cells[i].content);
}

// cells[i] = {0, style}
inline void fill_blank(Cell* cells, size_t n, StyleId style) {
  for (size_t i = 0; i < n; i++) cells[i] = {0, style};
}

}  // namespace ttyward::vt
