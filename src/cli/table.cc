#include "cli/table.h"

#include <algorithm>
#include <numeric>

namespace ttyward::cli {
namespace {

constexpr size_t kGap = 2;        // blanks between columns
constexpr size_t kNarrowest = 4;  // no column is cut to less

}  // namespace

void Table::add(std::vector<std::string> cells) {
  for (std::string& cell : cells) cell = one_line(cell);
  cells.resize(columns_.size());
  rows_.push_back(std::move(cells));
}

// The widest of those that give gives first, so that short ones stay whole.
std::vector<size_t> Table::widths(size_t width) const {
  std::vector<size_t> widths;
  for (size_t i = 0; i < columns_.size(); ++i) {
    size_t widest = shown_width(columns_[i].title);
    for (const auto& row : rows_) widest = std::max(widest, shown_width(row[i]));
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

std::string Table::line(const std::vector<std::string>& cells, const std::vector<size_t>& widths) const {
  std::string out;
  for (size_t i = 0; i < cells.size(); ++i) {
    if (i > 0) out.append(kGap, ' ');
    out += pad_to(cells[i], widths[i], columns_[i].cut);
  }
  while (!out.empty() && out.back() == ' ') out.pop_back();
  return out;
}

std::vector<std::string> Table::lines(size_t width) const {
  const std::vector<size_t> fitting = widths(width);
  std::vector<std::string> titles;
  titles.reserve(columns_.size());
  for (const Column& column : columns_) titles.emplace_back(column.title);
  std::vector<std::string> out{line(titles, fitting)};
  for (const auto& row : rows_) out.push_back(line(row, fitting));
  if (width > 0) {
    for (std::string& each : out) each = cut_to(each, width);
  }
  return out;
}

}  // namespace ttyward::cli
