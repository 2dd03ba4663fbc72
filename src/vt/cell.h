// One position of the grid: what is there, and how it looks. 8 bytes.
//
//   content  bits 0–20   a code point, or a cluster number if bit 31 is set; 0 is "nothing was written here"
//            bits 29–30  CellKind
//            bit 31      the content is a cluster (more than one code point)
//   style    StyleId
#pragma once

#include <cstdint>

#include "vt/style.h"

namespace ttyward::vt {

enum class CellKind : uint8_t {
  Narrow = 0,
  Wide = 1,       // first half of a character two columns wide
  WideTail = 2,   // its second half; has no content of its own
  WrapSpace = 3,  // last column left blank because a wide character did not fit
};

struct Cell {
  static constexpr uint32_t kClusterBit = 1u << 31;
  static constexpr uint32_t kKindShift = 29;
  static constexpr uint32_t kContentMask = (1u << 21) - 1;

  uint32_t content = 0;
  StyleId style = 0;

  static constexpr Cell of(char32_t code_point, CellKind kind, StyleId style) {
    return {static_cast<uint32_t>(code_point) | static_cast<uint32_t>(kind) << kKindShift, style};
  }
  constexpr CellKind kind() const { return static_cast<CellKind>((content >> kKindShift) & 3); }
  constexpr bool is_cluster() const { return (content & kClusterBit) != 0; }
  constexpr bool is_empty() const { return (content & (kContentMask | kClusterBit)) == 0; }
  // The code point or cluster number, with its cluster bit: what ClusterTable calls a Glyph.
  constexpr uint32_t glyph() const { return content & (kContentMask | kClusterBit); }
  constexpr bool operator==(const Cell&) const = default;
};
static_assert(sizeof(Cell) == 8, "grid rows are written eight bytes a column");

}  // namespace ttyward::vt
