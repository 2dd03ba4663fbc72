// Rows and columns of text that fit a width.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "cli/colour.h"
#include "cli/shown_text.h"

namespace ttyward::cli {

struct Column {
  const char* title;
  bool gives = false;  // may be cut when there is not enough room
  Cut cut = Cut::End;
  bool optional = false;  // left out while it has nothing but "-"
};

struct Cell {
  Cell(std::string shown, Colour painted = Colour::Plain) : text(std::move(shown)), colour(painted) {}
  Cell(const char* shown) : text(shown) {}

  std::string text;
  Colour colour = Colour::Plain;
};

// Cells are made safe to show. `width` 0: no limit.
class Table {
 public:
  explicit Table(std::vector<Column> columns) : columns_(std::move(columns)) {}
  void add(std::vector<Cell> cells);
  // The titles, then a line for each row; none ends with blanks.
  std::vector<std::string> lines(size_t width, Paint paint = {}) const;

 private:
  std::optional<Table> without_empty_columns() const;  // none: there are none of these
  std::vector<size_t> widths(size_t width) const;
  std::string line(const std::vector<Cell>& cells, const std::vector<size_t>& widths, Paint paint) const;

  std::vector<Column> columns_;
  std::vector<std::vector<Cell>> rows_;
};

}  // namespace ttyward::cli
