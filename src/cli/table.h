// Rows and columns of text that fit a width.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "cli/shown_text.h"

namespace ttyward::cli {

struct Column {
  const char* title;
  bool gives = false;  // may be cut when there is not enough room
  Cut cut = Cut::End;
};

// Cells are made safe to show. `width` 0: no limit.
class Table {
 public:
  explicit Table(std::vector<Column> columns) : columns_(std::move(columns)) {}
  void add(std::vector<std::string> cells);
  // The titles, then a line for each row; none ends with blanks.
  std::vector<std::string> lines(size_t width) const;

 private:
  std::vector<size_t> widths(size_t width) const;
  std::string line(const std::vector<std::string>& cells, const std::vector<size_t>& widths) const;

  std::vector<Column> columns_;
  std::vector<std::vector<std::string>> rows_;
};

}  // namespace ttyward::cli
