// Tables: a column in which all rows agree is said once.
#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>

#include "digest/line_scan.h"
#include "digest/page.h"

namespace ttyward::digest {
namespace {

constexpr size_t kLeastRows = 4;
constexpr size_t kGain = 40;  // characters that must be saved

// Cells are two blanks or a tab apart.
std::vector<std::string_view> cells_of(std::string_view line) {
  std::vector<std::string_view> cells;
  for (size_t i = 0; i < line.size();) {
    while (i < line.size() && (line[i] == ' ' || line[i] == '\t')) ++i;
    const size_t begin = i;
    while (i < line.size() && line[i] != '\t' &&
           !(line[i] == ' ' && i + 1 < line.size() && line[i + 1] == ' '))
      ++i;
    if (i > begin) cells.push_back(line.substr(begin, i - begin));
  }
  return cells;
}

bool may_be_row(const Line& line) {
  return !line.blank && !line.shielded && !line.lost && line.text.size() < 400 &&
         line.text.find("  ") != std::string::npos;
}

using Rows = std::vector<std::vector<std::string_view>>;

bool has_digit(std::string_view cell) {
  return cell.find_first_of("0123456789") != std::string_view::npos;
}

// Whether the first row names the columns: it is in capitals, or has no number above a column of numbers.
// A row that only differs from those below is one of them.
bool begins_with_heading(const Rows& rows) {
  bool capitals = true;
  bool names_numbers = false;
  for (size_t c = 0; c < rows[0].size(); ++c) {
    const std::string_view cell = rows[0][c];
    if (has_digit(cell)) return false;
    capitals = capitals &&
               std::none_of(cell.begin(), cell.end(), [](char x) { return x >= 'a' && x <= 'z'; }) &&
               std::any_of(cell.begin(), cell.end(), [](char x) { return x >= 'A' && x <= 'Z'; });
    names_numbers = names_numbers || std::all_of(rows.begin() + 1, rows.end(),
                                                 [&](const auto& row) { return has_digit(row[c]); });
  }
  return capitals || names_numbers;
}

// The columns in which all rows agree.
std::vector<bool> constant_columns(const Rows& rows, size_t width, bool heading) {
  std::vector<bool> constant(width, true);
  for (size_t c = 0; c < width; ++c) {
    for (size_t r = heading ? 1 : 0; r < rows.size() && constant[c]; ++r)
      constant[c] = rows[r][c] == rows.back()[c];
    if (is_alarm(rows[1][c]) || is_alarm(rows[0][c])) constant[c] = false;
  }
  return constant;
}

// The row with the largest number of a column says more than those beside it.
void keep_largest(Page& page, const Rows& rows, const std::vector<size_t>& members) {
  constexpr size_t kMany = 8;
  if (rows.size() < kMany) return;
  for (size_t c = 0; c < rows[0].size(); ++c) {
    size_t best = 0;
    double most = 0;
    bool numbers = true;
    for (size_t r = 1; r + 1 < rows.size() && numbers; ++r) {  // the last may be a sum
      const std::string word(rows[r][c].substr(0, rows[r][c].find(' ')));
      char* end = nullptr;
      const double value = std::strtod(word.c_str(), &end);
      numbers = end != word.c_str() && *end == 0;
      if (value > most) {
        most = value;
        best = r;
      }
    }
    if (!numbers || best == 0) continue;
    Line& line = page.lines[members[best]];
    line.rank = std::max(line.rank, Rank::Detail);
  }
}

void shorten_table(Page& page, const std::vector<size_t>& members) {
  if (members.size() < kLeastRows + 1) return;
  Rows rows;
  Rows seen;  // those that no fold hides
  std::vector<size_t> seen_members;
  const auto hidden = [&](size_t r) {
    const Line& line = page.lines[members[r]];
    return line.fold >= 0 && !line.example;
  };
  for (size_t r = 0; r < members.size(); ++r) {
    rows.push_back(cells_of(page.lines[members[r]].text));
    if (hidden(r)) continue;
    seen.push_back(rows.back());
    seen_members.push_back(members[r]);
  }
  if (seen.size() < kLeastRows + 1) return;
  const size_t width = rows[0].size();
  keep_largest(page, seen, seen_members);
  const bool heading = begins_with_heading(rows);
  const std::vector<bool> constant = constant_columns(rows, width, heading);
  size_t saved = 0;
  size_t left = 0;
  for (size_t c = 0; c < width; ++c) {
    if (!constant[c]) {
      ++left;
      continue;
    }
    saved += (rows[1][c].size() + 2) * (seen.size() - 1);
  }
  if (left == 0 || left == width || saved < kGain) return;
  std::string shared;
  for (size_t c = 0; c < width; ++c) {
    if (!constant[c]) continue;
    shared += fmt::format("{}{}{}{}", shared.empty() ? "" : ", ", heading ? rows[0][c] : "",
                          heading ? " " : "", rows[1][c]);
  }
  // Said in the heading, or in a row that is shown.
  size_t says = 0;
  while (hidden(says)) ++says;
  for (size_t r = says; r < rows.size() && !heading; ++r) {
    if (!hidden(r) && page.lines[members[r]].rank > page.lines[members[says]].rank) says = r;
  }
  page.lines[members[says]].rank = std::max(page.lines[members[says]].rank, Rank::Warning);
  std::vector<std::string> texts;
  for (size_t r = 0; r < rows.size(); ++r) {
    std::string text;
    for (size_t c = 0; c < width; ++c) {
      if (constant[c]) continue;
      text += (text.empty() ? "" : "  ") + std::string(rows[r][c]);
    }
    if (r == says) text += fmt::format("  [in all rows: {}]", shared);
    texts.push_back(std::move(text));
  }
  for (size_t r = 0; r < rows.size(); ++r) {
    Line& line = page.lines[members[r]];
    line.text = std::move(texts[r]);
    line.whole_bytes = line.text.size();
  }
  page.altered = true;
}

}  // namespace

void shorten_tables(Page& page) {
  // Of the middle of a flood not every row is known.
  if (page.content || page.tiny() || !page.replacement.empty() || !page.kinds.empty()) return;
  std::vector<size_t> members;
  size_t width = 0;
  for (size_t i = 0; i < page.lines.size(); ++i) {
    const Line& line = page.lines[i];
    if (line.rank == Rank::Noise && !line.alarm && line.fold < 0) continue;
    const size_t cells = may_be_row(line) ? cells_of(line.text).size() : 0;
    if (cells != width || cells < 3) {
      shorten_table(page, members);
      members.clear();
      width = cells;
    }
    if (cells >= 3) members.push_back(i);
  }
  shorten_table(page, members);
}

}  // namespace ttyward::digest
