#include "cli/table.h"

#include <algorithm>
#include <numeric>

namespace ttyward::cli {
namespace {

constexpr size_t kGap = 2;        // blanks between columns
constexpr size_t kNarrowest = 4;  // no column is cut to less

}  // namespace

void Table::add(std::vector<Cell> cells) {
  for (Cell& cell : cells) cell.text = one_line(cell.text);
  cells.resize(columns_.size(), Cell(""));
  rows_.push_back(std::move(cells));
}

std::optional<Table> Table::without_empty_columns() const {
  std::vector<size_t> kept;
  for (size_t i = 0; i < columns_.size(); ++i) {
    const bool empty =
        std::all_of(rows_.begin(), rows_.end(), [i](const auto& row) { return row[i].text == "-"; });
    if (!columns_[i].optional || !empty) kept.push_back(i);
  }
  if (kept.size() == columns_.size()) return std::nullopt;
  std::vector<Column> columns;
  for (const size_t i : kept) columns.push_back(columns_[i]);
  Table fewer(std::move(columns));
  for (Column& column : fewer.columns_) column.optional = false;
  for (const auto& row : rows_) {
    std::vector<Cell> cells;
    for (const size_t i : kept) cells.push_back(row[i]);
    fewer.rows_.push_back(std::move(cells));
  }
  return fewer;
}

// The widest of those that give gives first, so that short ones stay whole.
std::vector<size_t> Table::widths(size_t width) const {
  std::vector<size_t> widths;
  for (size_t i = 0; i < columns_.size(); ++i) {
    size_t widest = shown_width(columns_[i].title);
    for (const auto& row : rows_) widest = std::max(widest, shown_width(row[i].text));
    widths.push_back(widest);
  }
  if (width == 0) return widths;
  const auto total = [&] {
    return std::accumulate(widths.begin(), widths.end(), kGap * (widths.empty() ? 0 : widths.size() - 1));
  };
  while (total() > width) {
    size_t* most = nullptr;
    for (size_t i = 0; i < widths.size(); ++i) {
      const bool may = columns_[i].gives && widths[i] > kNarrowest;
      if (may && (most == nullptr || widths[i] > *most)) most = &widths[i];
    }
    if (most == nullptr) break;
    --*most;
  }
  return widths;
}

std::string Table::line(const std::vector<Cell>& cells, const std::vector<size_t>& widths,
                        Paint paint) const {
  std::string out;
  size_t last = cells.size();
  while (last > 0 && cells[last - 1].text.empty()) --last;
  for (size_t i = 0; i < last; ++i) {
    const std::string shown = i + 1 < last ? pad_to(cells[i].text, widths[i], columns_[i].cut)
                                           : cut_to(cells[i].text, widths[i], columns_[i].cut);
    if (i > 0) out.append(kGap, ' ');
    out += paint(cells[i].colour, shown);
  }
  return out;
}

std::vector<std::string> Table::lines(size_t width, Paint paint) const {
  if (const auto fewer = without_empty_columns()) return fewer->lines(width, paint);
  const std::vector<size_t> fitting = widths(width);
  std::vector<std::string> out;
  const auto add = [&](const std::vector<Cell>& cells) {
    const std::string plain = line(cells, fitting, {});
    const bool fits = width == 0 || shown_width(plain) <= width;
    out.push_back(fits ? line(cells, fitting, paint) : cut_to(plain, width));
  };
  std::vector<Cell> titles;
  titles.reserve(columns_.size());
  for (const Column& column : columns_) titles.emplace_back(column.title, Colour::Bold);
  add(titles);
  for (const auto& row : rows_) add(row);
  return out;
}

}  // namespace ttyward::cli
