// The three inner loops of the engine, in the widest form the machine has.
//
// They are chosen once, when the program starts: baseline code for any x86-64
// or ARM machine, AVX2 where the processor has it.
#pragma once

#include <cstddef>
#include <cstdint>

#include "vt/cell.h"

namespace ttyward::vt {

// First byte in [begin, end) that is not printable ASCII (0x20..0x7E), or `end`.
const uint8_t* find_non_printable(const uint8_t* begin, const uint8_t* end);

// cells[i] = {text[i], style}
void widen_ascii(Cell* cells, const uint8_t* text, size_t n, StyleId style);

// out[i] = low byte of cells[i].content. The cells must hold ASCII or nothing.
void narrow_ascii(uint8_t* out, const Cell* cells, size_t n);

// cells[i] = {0, style}
void fill_blank(Cell* cells, size_t n, StyleId style);

}  // namespace ttyward::vt
