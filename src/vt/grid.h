// The visible rows of one screen (main or alternate), and moving cells about in them.
//
// Coordinates are (row, column), from 0, rows counted from the top of the screen.
//
// A row knows how many of its cells are in use; the cells after that are blank
// in the default style, whatever their memory holds. Clearing a row is therefore
// one store. Rows are reached through `order_`, so scrolling moves two-byte
// numbers, never cells; it has twice the room it needs, so that scrolling the
// whole screen by a row writes one of them and moves the beginning:
//
//     visible       0 1 2 3      rows_[2] rows_[3] rows_[0] rows_[1]
//     order_    0 1 2 3 0 1      after the screen scrolled by two
//                   ^ order_begin_
//
// The grid knows nothing of escape sequences, cursors or history.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "vt/cell.h"

namespace ttyward::vt {

struct Row {
  // Wrapped: the text goes on in the next row. The Maybe flags can be set
  // needlessly but are never missing; they let common rows skip work.
  static constexpr uint16_t kWrapped = 1 << 0;
  static constexpr uint16_t kMaybeStyled = 1 << 1;
  static constexpr uint16_t kMaybeNonAscii = 1 << 2;
  static constexpr uint16_t kMaybeWide = 1 << 3;
  static constexpr uint16_t kContentFlags = kMaybeStyled | kMaybeNonAscii | kMaybeWide;
  // DECDWL, DECDHL
  static constexpr uint16_t kDoubleWidth = 1 << 4;
  static constexpr uint16_t kDoubleTop = 1 << 5;
  static constexpr uint16_t kDoubleBottom = 1 << 6;
  static constexpr uint16_t kSizeFlags = kDoubleWidth | kDoubleTop | kDoubleBottom;
  // A shell mark stands in this row.
  static constexpr uint16_t kPromptStart = 1 << 8;
  static constexpr uint16_t kInputStart = 1 << 9;
  static constexpr uint16_t kOutputStart = 1 << 10;
  static constexpr uint16_t kCommandEnd = 1 << 11;
  static constexpr uint16_t kMarkFlags = kPromptStart | kInputStart | kOutputStart | kCommandEnd;

  Cell* cells = nullptr;
  uint32_t used = 0;
  uint16_t flags = 0;
  uint64_t changed = 0;  // the screen's sequence number when it last changed

  bool has(uint16_t flag) const { return (flags & flag) != 0; }
  void set(uint16_t flag) { flags = static_cast<uint16_t>(flags | flag); }
  void unset(uint16_t flag) { flags = static_cast<uint16_t>(flags & ~flag); }
};

// Turns wide characters into blanks, for where only one column is left to show them in.
void blank_wide(Cell* cells, size_t n);

class Grid {
 public:
  Grid(int rows, int cols);
  Grid(Grid&&) noexcept = default;
  Grid& operator=(Grid&&) noexcept = default;
  Grid(const Grid&) = delete;
  Grid& operator=(const Grid&) = delete;

  int rows() const { return static_cast<int>(rows_.size()); }
  int cols() const { return cols_; }
  Row& row(int r) { return rows_[order_begin_[r]]; }
  const Row& row(int r) const { return rows_[order_begin_[r]]; }
  // The cell at (r, c); a blank one where nothing is stored.
  Cell cell(int r, int c) const;

  // Makes cells [used, upto) real blanks, so that they can be written and moved.
  void materialize(Row& row, uint32_t upto) {
    if (row.used < upto) materialize_slow(row, upto);
  }
  // Blanks a wide character that straddles the boundary before column c.
  void split_wide(Row& row, uint32_t c) {
    if (row.has(Row::kMaybeWide)) split_wide_slow(row, c);
  }

  void erase(Row& row, uint32_t from, uint32_t to, StyleId style);
  void clear(Row& row, StyleId style);
  // Shift cells of [at, limit) right or left by n; the gap is blank in `style`.
  void insert_cells(Row& row, uint32_t at, uint32_t n, uint32_t limit, StyleId style);
  void delete_cells(Row& row, uint32_t at, uint32_t n, uint32_t limit, StyleId style);

  // Rotates rows [top, bottom] up or down by n rows; contents move with them.
  void rotate_up(int top, int bottom, int n);
  void rotate_down(int top, int bottom, int n);
  // Copies cells [left, right] of one row over another's.
  void copy_cells(const Row& from, Row& to, uint32_t left, uint32_t right);

  // Becomes a copy of another grid.
  void assign(const Grid& other);
  void swap(Grid& other) noexcept;

 private:
  void materialize_slow(Row& row, uint32_t upto);
  void split_wide_slow(Row& row, uint32_t c);

  int cols_;
  std::vector<Cell> storage_;
  std::vector<Row> rows_;
  std::vector<uint16_t> order_;
  uint16_t* order_begin_;  // in it; moves on as the whole screen scrolls up
};

}  // namespace ttyward::vt
