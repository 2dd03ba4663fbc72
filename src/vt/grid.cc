#include "vt/grid.h"

#include <algorithm>
#include <cstring>
#include <utility>

#include "base/check.h"
#include "vt/fill.h"

namespace ttyward::vt {

void blank_wide(Cell* cells, size_t n) {
  for (size_t i = 0; i < n; i++) {
    const CellKind kind = cells[i].kind();
    if (kind == CellKind::Wide || kind == CellKind::WideTail) cells[i].content = 0;
  }
}

Grid::Grid(int rows, int cols)
    : cols_(cols),
      storage_(static_cast<size_t>(rows) * static_cast<size_t>(cols)),
      rows_(static_cast<size_t>(rows)),
      order_(static_cast<size_t>(rows) * 2),
      order_begin_(order_.data()) {
  TTYWARD_CHECK(rows > 0 && rows <= UINT16_MAX && cols > 0);
  for (size_t r = 0; r < rows_.size(); r++) {
    rows_[r].cells = storage_.data() + r * static_cast<size_t>(cols);
    order_begin_[r] = static_cast<uint16_t>(r);
  }
}

Cell Grid::cell(int r, int c) const {
  const Row& at = row(r);
  return static_cast<uint32_t>(c) < at.used ? at.cells[c] : Cell{};
}

void Grid::materialize_slow(Row& row, uint32_t upto) {
  fill_blank(row.cells + row.used, upto - row.used, 0);
  row.used = upto;
}

void Grid::split_wide_slow(Row& row, uint32_t c) {
  if (c == 0 || c >= row.used || row.cells[c].kind() != CellKind::WideTail) return;
  row.cells[c - 1].content = 0;
  row.cells[c].content = 0;
}

void Grid::erase(Row& row, uint32_t from, uint32_t to, StyleId style) {
  if (from >= to) return;
  split_wide(row, from);
  split_wide(row, to);
  if (style != 0) {
    materialize(row, from);
    fill_blank(row.cells + from, to - from, style);
    row.used = std::max(row.used, to);
    row.set(Row::kMaybeStyled);
  } else if (to >= row.used) {
    row.used = std::min(row.used, from);
    if (row.used == 0) row.unset(Row::kContentFlags);
  } else {
    fill_blank(row.cells + from, to - from, 0);
  }
}

void Grid::clear(Row& row, StyleId style) {
  row.used = 0;
  row.flags = 0;
  if (style != 0) erase(row, 0, static_cast<uint32_t>(cols_), style);
}

void Grid::insert_cells(Row& row, uint32_t at, uint32_t n, uint32_t limit, StyleId style) {
  n = std::min(n, limit - at);
  split_wide(row, at);
  split_wide(row, limit - n);
  split_wide(row, limit);
  if (row.used > at) {
    // Only what is in use has to move; what falls over the limit is gone.
    const uint32_t last = std::min(row.used, limit);
    const uint32_t end = std::min(last + n, limit);
    materialize(row, std::max(row.used, end));
    std::memmove(row.cells + at + n, row.cells + at, (end - at - n) * sizeof(Cell));
  } else if (style == 0) {
    return;
  }
  materialize(row, at);
  fill_blank(row.cells + at, n, style);
  row.used = std::max(row.used, at + n);
  if (style != 0) row.set(Row::kMaybeStyled);
}

void Grid::delete_cells(Row& row, uint32_t at, uint32_t n, uint32_t limit, StyleId style) {
  n = std::min(n, limit - at);
  split_wide(row, at);
  split_wide(row, at + n);
  split_wide(row, limit);
  if (row.used > at) {
    const uint32_t last = std::min(row.used, limit);
    const uint32_t moved = last > at + n ? last - at - n : 0;
    std::memmove(row.cells + at, row.cells + at + n, moved * sizeof(Cell));
    if (last == row.used) {
      row.used = at + moved;
    } else {
      fill_blank(row.cells + at + moved, last - at - moved, 0);
    }
  }
  if (style == 0) return;
  materialize(row, limit - n);
  fill_blank(row.cells + limit - n, n, style);
  row.used = std::max(row.used, limit);
  row.set(Row::kMaybeStyled);
}

void Grid::rotate_up(int top, int bottom, int n) {
  if (n == 1 && top == 0 && bottom == rows() - 1) {
    order_begin_[rows()] = *order_begin_;
    order_begin_++;
    if (order_begin_ == order_.data() + rows()) {
      std::copy_n(order_begin_, rows(), order_.data());
      order_begin_ = order_.data();
    }
    return;
  }
  std::rotate(order_begin_ + top, order_begin_ + top + n, order_begin_ + bottom + 1);
}

void Grid::rotate_down(int top, int bottom, int n) {
  std::rotate(order_begin_ + top, order_begin_ + bottom + 1 - n, order_begin_ + bottom + 1);
}

void Grid::copy_cells(const Row& from, Row& to, uint32_t left, uint32_t right) {
  const uint32_t end = right + 1;
  split_wide(to, left);
  split_wide(to, end);
  if (from.used <= left && to.used <= left) return;
  materialize(to, std::max(to.used, end));
  const uint32_t copied = from.used > left ? std::min(from.used, end) - left : 0;
  std::memmove(to.cells + left, from.cells + left, copied * sizeof(Cell));
  fill_blank(to.cells + left + copied, end - left - copied, 0);
  to.set(from.flags & Row::kContentFlags);
  // The edges may have cut a wide character of the source in two.
  if (to.has(Row::kMaybeWide)) {
    if (to.cells[left].kind() == CellKind::WideTail) to.cells[left].content = 0;
    if (to.cells[right].kind() == CellKind::Wide) to.cells[right].content = 0;
  }
}

void Grid::assign(const Grid& other) {
  if (rows() != other.rows() || cols_ != other.cols_) *this = Grid(other.rows(), other.cols_);
  for (int r = 0; r < other.rows(); r++) {
    const Row& from = other.row(r);
    Row& to = row(r);
    to.used = from.used;
    to.flags = from.flags;
    to.changed = from.changed;
    std::memcpy(to.cells, from.cells, from.used * sizeof(Cell));
  }
}

void Grid::swap(Grid& other) noexcept {
  std::swap(cols_, other.cols_);
  storage_.swap(other.storage_);
  rows_.swap(other.rows_);
  order_.swap(other.order_);
  std::swap(order_begin_, other.order_begin_);
}

}  // namespace ttyward::vt
