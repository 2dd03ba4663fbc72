// Rectangular areas: fill, erase, copy, change attributes, checksum (VT420).
#include <fmt/format.h>

#include <algorithm>
#include <vector>

#include "vt/screen.h"

namespace ttyward::vt {

// Parameters first..first+3 as top, left, bottom, right: 1-based, relative to the origin, clipped to the
// screen.
std::optional<Screen::Rect> Screen::rectangle(P p, unsigned first) const {
  const bool origin = modes_.has(Mode::Origin);
  const int row0 = origin ? top_ : 0;
  const int col0 = origin ? left_ : 0;
  const int last_row = origin ? bottom_ : grid_->rows() - 1;
  const int last_col = origin ? right_ : grid_->cols() - 1;
  Rect rect{row0 + p.get(first, 1) - 1, col0 + p.get(first + 1, 1) - 1,
            std::min(row0 + p.get(first + 2, last_row - row0 + 1) - 1, last_row),
            std::min(col0 + p.get(first + 3, last_col - col0 + 1) - 1, last_col)};
  if (rect.top > rect.bottom || rect.left > rect.right) return std::nullopt;
  return rect;
}

void Screen::DECFRA_FillRectangle(P p) {
  const auto rect = rectangle(p, 1);
  const uint16_t code = p[0];
  const bool printable = (code >= 0x20 && code <= 0x7E) || (code >= 0xA0 && code <= 0xFF);
  if (!rect || !printable) return;
  const StyleId style = pen_id();
  const auto left = static_cast<uint32_t>(rect->left);
  const auto right = static_cast<uint32_t>(rect->right);
  for (int r = rect->top; r <= rect->bottom; r++) {
    Row& row = grid_->row(r);
    grid_->split_wide(row, left);
    grid_->split_wide(row, right + 1);
    grid_->materialize(row, right + 1);
    for (uint32_t c = left; c <= right; c++) row.cells[c] = {code, style};
    row.set(Row::kMaybeStyled | (code >= 0x80 ? Row::kMaybeNonAscii : 0));
    touch(row);
  }
}

void Screen::DECERA_EraseRectangle(P p) {
  const auto rect = rectangle(p, 0);
  if (!rect) return;
  for (int r = rect->top; r <= rect->bottom; r++)
    erase_cells(r, rect->left, rect->right + 1, Respect::Nothing);
}

// Selective erase of a rectangle takes the characters and leaves their looks.
void Screen::DECSERA_SelectiveEraseRectangle(P p) {
  const auto rect = rectangle(p, 0);
  if (!rect) return;
  for (int r = rect->top; r <= rect->bottom; r++)
    erase_cells(r, rect->left, rect->right + 1, Respect::Protected);
}

void Screen::DECCRA_CopyRectangle(P p) {
  const auto from = rectangle(p, 0);
  if (!from) return;
  // The target needs only a corner; pages (parameters 4 and 7) do not exist here.
  const bool origin = modes_.has(Mode::Origin);
  const int to_row = (origin ? top_ : 0) + p.get(5, 1) - 1;
  const int to_col = (origin ? left_ : 0) + p.get(6, 1) - 1;
  const int last_row = origin ? bottom_ : grid_->rows() - 1;
  const int last_col = origin ? right_ : grid_->cols() - 1;
  const int height = std::min(from->bottom - from->top, last_row - to_row) + 1;
  const int width = std::min(from->right - from->left, last_col - to_col) + 1;
  if (height <= 0 || width <= 0) return;

  // The areas may overlap: take a copy of the source first.
  std::vector<Cell> cells;
  cells.reserve(static_cast<size_t>(height) * static_cast<size_t>(width));
  uint16_t content = 0;
  for (int r = 0; r < height; r++) {
    content = static_cast<uint16_t>(content | (grid_->row(from->top + r).flags & Row::kContentFlags));
    for (int c = 0; c < width; c++) {
      Cell cell = grid_->cell(from->top + r, from->left + c);
      const bool torn = (c == 0 && cell.kind() == CellKind::WideTail) ||
                        (c == width - 1 && cell.kind() == CellKind::Wide) ||
                        cell.kind() == CellKind::WrapSpace;
      if (torn) cell.content = 0;
      cells.push_back(cell);
    }
  }
  const auto left = static_cast<uint32_t>(to_col);
  const auto end = static_cast<uint32_t>(to_col + width);
  for (int r = 0; r < height; r++) {
    Row& row = grid_->row(to_row + r);
    grid_->split_wide(row, left);
    grid_->split_wide(row, end);
    grid_->materialize(row, end);
    std::copy_n(cells.begin() + static_cast<std::ptrdiff_t>(r) * width, width, row.cells + left);
    row.set(content);
    touch(row);
  }
}

// Applies `change` to the style of each cell of the rectangle, or of the stream from its first to its last
// corner.
template <typename Change>
void Screen::change_styles(const Rect& rect, Change change) {
  const bool whole_rectangle = attribute_extent_ == 2;
  const bool origin = modes_.has(Mode::Origin);
  const int first = origin ? left_ : 0;
  const int last = origin ? right_ : grid_->cols() - 1;
  for (int r = rect.top; r <= rect.bottom; r++) {
    const int from = whole_rectangle || r == rect.top ? rect.left : first;
    const int to = whole_rectangle || r == rect.bottom ? rect.right : last;
    Row& row = grid_->row(r);
    grid_->materialize(row, static_cast<uint32_t>(to) + 1);
    for (int c = from; c <= to; c++) {
      Style style = styles_[row.cells[c].style];
      change(style);
      row.cells[c].style = styles_.intern(style);
    }
    row.set(Row::kMaybeStyled);
    touch(row);
  }
}

void Screen::DECCARA_ChangeAttributes(P p) {
  const auto rect = rectangle(p, 0);
  if (!rect) return;
  Params sgr;
  for (unsigned i = 4; i < p.size(); i++) {
    if (i > 4) sgr.separator(p.is_sub(i));
    for (const char digit : std::to_string(p[i])) sgr.digit(static_cast<uint8_t>(digit - '0'));
  }
  change_styles(*rect, [&](Style& style) { apply_sgr(sgr, style); });
}

void Screen::DECRARA_ReverseAttributes(P p) {
  const auto rect = rectangle(p, 0);
  if (!rect) return;
  change_styles(*rect, [&](Style& style) {
    for (unsigned i = 4; i < std::max(p.size(), 5u); i++) {
      const auto flip = [&](uint16_t attribute) {
        style.attributes = static_cast<uint16_t>(style.attributes ^ attribute);
      };
      switch (p[i]) {
        case 0:
          flip(Style::kBold | Style::kBlink | Style::kInverse);
          style.set_underline(style.underline() == Underline::None ? Underline::Single : Underline::None);
          break;
        case 1:
          flip(Style::kBold);
          break;
        case 4:
          style.set_underline(style.underline() == Underline::None ? Underline::Single : Underline::None);
          break;
        case 5:
          flip(Style::kBlink);
          break;
        case 7:
          flip(Style::kInverse);
          break;
        case 8:
          flip(Style::kHidden);
          break;
        default:
          break;
      }
    }
  });
}

void Screen::DECSACE_AttributeExtent(P p) {
  if (p[0] <= 2) attribute_extent_ = p[0];
}

// The sum of codes and attribute bits, negated, as xterm has it: codes count by their low byte, hidden
// characters and blanks as spaces, and blanks at the end of a row not at all, except the rectangle's first.
void Screen::DECRQCRA_ChecksumRectangle(P p) {
  const auto rect = rectangle(p, 2);
  uint32_t sum = 0;
  for (int r = rect ? rect->top : 0; rect && r <= rect->bottom; r++) {
    uint32_t blanks = 0;
    for (int c = rect->left; c <= rect->right; c++) {
      const Cell cell = grid_->cell(r, c);
      const Style& style = styles_[cell.style];
      uint32_t code = 0xFF;  // the second half of a wide character
      if (cell.kind() != CellKind::WideTail) {
        code = cell.is_empty() || style.has(Style::kHidden) ? ' ' : clusters_.first_code_point(cell.glyph());
        code &= 0xFF;
      }
      uint32_t looks = 0;
      if (style.underline() != Underline::None) looks += 0x10;
      if (style.has(Style::kInverse)) looks += 0x20;
      if (style.has(Style::kBlink)) looks += 0x40;
      if (style.has(Style::kBold)) looks += 0x80;
      const bool first = r == rect->top && c == rect->left;
      if (code == ' ' && looks == 0 && !first) {
        blanks += ' ';
        continue;
      }
      sum += blanks + code + looks;
      blanks = 0;
    }
  }
  reply(fmt::format("\033P{}!~{:04X}\033\\", p[0], (0x10000u - (sum & 0xFFFF)) & 0xFFFF));
}

}  // namespace ttyward::vt
