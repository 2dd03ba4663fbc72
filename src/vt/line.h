// One row read out: text and how it looks, independent of any table of the screen.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "vt/cluster.h"
#include "vt/grid.h"
#include "vt/style.h"

namespace ttyward::vt {

// Neighbouring columns with the same style.
struct Span {
  Style style;
  uint32_t col = 0;    // first column
  uint32_t cols = 0;   // how many columns it covers
  uint32_t begin = 0;  // its bytes in Line::text
  uint32_t end = 0;

  bool operator==(const Span&) const = default;
};

struct Line {
  std::string text;  // UTF-8; an empty column reads as a space
  std::vector<Span> spans;
  bool wrapped = false;  // the text goes on in the next line
  uint16_t flags = 0;    // Row's size and mark flags

  std::string_view text_of(const Span& span) const {
    return std::string_view(text).substr(span.begin, span.end - span.begin);
  }
  uint32_t columns() const { return spans.empty() ? 0 : spans.back().col + spans.back().cols; }
  void clear();
  // Adds a cell `cols` columns wide; joins the last span if the style is the same.
  void add(std::string_view cell_text, uint32_t cols, const Style& style);
  // Drops blanks at the end that cannot be seen: spaces without background, underline or the like.
  void trim();
  bool operator==(const Line&) const = default;
};

// What a row of the grid holds.
Line read_row(const Row& row, const StyleTable& styles, const ClusterTable& clusters);

}  // namespace ttyward::vt
