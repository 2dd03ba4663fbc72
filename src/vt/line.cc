#include "vt/line.h"

namespace ttyward::vt {
namespace {

// A space in this style looks like nothing at all.
bool is_invisible_when_blank(const Style& style) {
  constexpr uint16_t kSeen = Style::kInverse | Style::kStrike | Style::kOverline | Style::kUnderlineMask;
  return style.background.is_default() && !style.has(kSeen);
}

}  // namespace

void Line::clear() {
  text.clear();
  spans.clear();
  wrapped = false;
  flags = 0;
}

void Line::add(std::string_view cell_text, uint32_t cols, const Style& style) {
  if (spans.empty() || spans.back().style != style) {
    const auto at = static_cast<uint32_t>(text.size());
    spans.push_back({style, columns(), 0, at, at});
  }
  text += cell_text;
  spans.back().cols += cols;
  spans.back().end = static_cast<uint32_t>(text.size());
}

void Line::trim() {
  while (!spans.empty()) {
    Span& last = spans.back();
    if (is_invisible_when_blank(last.style)) {
      while (last.end > last.begin && text.back() == ' ') {
        text.pop_back();
        last.end--;
        last.cols--;
      }
    }
    if (last.end > last.begin) return;
    spans.pop_back();
  }
}

Line read_row(const Row& row, const StyleTable& styles, const ClusterTable& clusters) {
  Line line;
  line.wrapped = row.has(Row::kWrapped);
  line.flags = row.flags & (Row::kSizeFlags | Row::kMarkFlags);
  std::string text;
  for (uint32_t c = 0; c < row.used; c++) {
    const Cell cell = row.cells[c];
    // Most of what there is: one more ASCII character in the style of the last.
    if (cell.content < 0x80 && c > 0 && cell.style == row.cells[c - 1].style && !line.spans.empty()) {
      line.text += cell.content == 0 ? ' ' : static_cast<char>(cell.content);
      line.spans.back().cols++;
      line.spans.back().end++;
      continue;
    }
    if (cell.kind() == CellKind::WideTail) continue;
    // The column a wide character did not fit into is not part of the text.
    if (cell.kind() == CellKind::WrapSpace && line.wrapped && c + 1 == row.used) continue;
    text.clear();
    if (cell.is_empty()) {
      text = " ";
    } else {
      clusters.append_utf8(cell.glyph(), text);
    }
    line.add(text, cell.kind() == CellKind::Wide ? 2 : 1, styles[cell.style]);
  }
  return line;
}

}  // namespace ttyward::vt
