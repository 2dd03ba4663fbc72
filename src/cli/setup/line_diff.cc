#include "cli/setup/line_diff.h"

#include <algorithm>
#include <cstdint>
#include <string_view>
#include <vector>

#include "base/mask_secrets.h"
#include "policy/escaped_view.h"

namespace ttyward::cli::setup {
namespace lines {
namespace {

using Lines = std::vector<std::string_view>;

constexpr size_t kContext = 2;
constexpr size_t kMostCells = 4'000'000;  // of the table; beyond that the whole middle counts as changed

Lines split(std::string_view text) {
  Lines out;
  while (!text.empty()) {
    const size_t newline = text.find('\n');
    std::string_view line = text.substr(0, newline);
    if (line.ends_with('\r')) line.remove_suffix(1);
    out.push_back(line);
    text.remove_prefix(newline == std::string_view::npos ? text.size() : newline + 1);
  }
  return out;
}

struct Step {
  char sign;  // ' ', '-' or '+'
  std::string_view line;
};

// The longest common subsequence of the middle parts, by its table.
void compare(const Lines& a, size_t a_begin, size_t a_end, const Lines& b, size_t b_begin, size_t b_end,
             std::vector<Step>& out) {
  const size_t rows = a_end - a_begin;
  const size_t columns = b_end - b_begin;
  std::vector<uint32_t> table;
  const bool small = (rows + 1) * (columns + 1) <= kMostCells;
  if (small) table.assign((rows + 1) * (columns + 1), 0);
  const auto cell = [&](size_t r, size_t c) -> uint32_t& { return table[r * (columns + 1) + c]; };
  for (size_t r = small ? rows : 0; r-- > 0;) {
    for (size_t c = columns; c-- > 0;) {
      cell(r, c) = a[a_begin + r] == b[b_begin + c] ? cell(r + 1, c + 1) + 1
                                                    : std::max(cell(r + 1, c), cell(r, c + 1));
    }
  }
  size_t r = 0;
  size_t c = 0;
  while (r < rows || c < columns) {
    if (small && r < rows && c < columns && a[a_begin + r] == b[b_begin + c]) {
      out.push_back({' ', a[a_begin + r++]});
      ++c;
    } else if (r < rows && (!small || c == columns || cell(r + 1, c) >= cell(r, c + 1))) {
      out.push_back({'-', a[a_begin + r++]});
    } else {
      out.push_back({'+', b[b_begin + c++]});
    }
  }
}

}  // namespace
}  // namespace lines

std::string line_diff(const std::string& before, const std::string& after) {
  using lines::Lines;
  const Lines a = lines::split(before);
  const Lines b = lines::split(after);
  size_t same = 0;
  while (same < a.size() && same < b.size() && a[same] == b[same]) ++same;
  size_t tail = 0;
  while (tail < a.size() - same && tail < b.size() - same && a[a.size() - 1 - tail] == b[b.size() - 1 - tail])
    ++tail;
  std::vector<lines::Step> steps;
  for (size_t i = 0; i < same; ++i) steps.push_back({' ', a[i]});
  lines::compare(a, same, a.size() - tail, b, same, b.size() - tail, steps);
  for (size_t i = a.size() - tail; i < a.size(); ++i) steps.push_back({' ', a[i]});

  std::string out;
  bool skipped = false;
  for (size_t i = 0; i < steps.size(); ++i) {
    bool near_change = false;
    for (size_t k = i < lines::kContext ? 0 : i - lines::kContext;
         k < std::min(steps.size(), i + lines::kContext + 1); ++k)
      near_change = near_change || steps[k].sign != ' ';
    if (!near_change) {
      skipped = true;
      continue;
    }
    if (skipped && !out.empty()) out += "    …\n";
    skipped = false;
    out += std::string("  ") + steps[i].sign + " " +
           policy::escape_text(base::mask_secrets(steps[i].line), true) + "\n";
  }
  return out;
}

}  // namespace ttyward::cli::setup
