#include "changes/diff.h"

#include <algorithm>
#include <cstdlib>
#include <unordered_map>

namespace ttyward::changes {
namespace {

constexpr int64_t kMostEdits = 2000;        // of one block, from both ends together: half each
constexpr int64_t kMostSteps = 40'000'000;  // of one comparison
constexpr int64_t kContext = 3;

class Comparison {
 public:
  Comparison(std::vector<uint32_t> before, std::vector<uint32_t> after, LineDiff& into)
      : a_(std::move(before)), b_(std::move(after)), into_(into) {}

  void run() {
    open_.push_back({0, size(a_), 0, size(b_)});
    while (!open_.empty()) {
      const Block block = trimmed(open_.back());
      open_.pop_back();
      compare(block);
    }
  }

 private:
  struct Block {
    int64_t a_begin, a_end, b_begin, b_end;
  };
  struct Point {
    int64_t a, b;
  };

  static int64_t size(const std::vector<uint32_t>& lines) { return static_cast<int64_t>(lines.size()); }
  uint32_t a(int64_t i) const { return a_[static_cast<size_t>(i)]; }
  uint32_t b(int64_t i) const { return b_[static_cast<size_t>(i)]; }

  Block trimmed(Block block) const {
    while (block.a_begin < block.a_end && block.b_begin < block.b_end &&
           a(block.a_begin) == b(block.b_begin)) {
      block.a_begin++;
      block.b_begin++;
    }
    while (block.a_begin < block.a_end && block.b_begin < block.b_end &&
           a(block.a_end - 1) == b(block.b_end - 1)) {
      block.a_end--;
      block.b_end--;
    }
    return block;
  }

  void mark(const Block& block) {
    for (int64_t i = block.a_begin; i < block.a_end; i++) into_.removed[static_cast<size_t>(i)] = true;
    for (int64_t i = block.b_begin; i < block.b_end; i++) into_.added[static_cast<size_t>(i)] = true;
  }

  void compare(const Block& block) {
    if (block.a_begin == block.a_end || block.b_begin == block.b_end) return mark(block);
    Point middle{};
    if (!find_middle(block, middle)) return mark(block);
    open_.push_back({block.a_begin, middle.a, block.b_begin, middle.b});
    open_.push_back({middle.a, block.a_end, middle.b, block.b_end});
  }

  // A point on a shortest way from one corner to the other, about half way. The block is trimmed and has
  // lines on both sides, so at least two edits are needed, and the point is neither of the corners.
  bool find_middle(const Block& block, Point& middle) {
    const int64_t n = block.a_end - block.a_begin;
    const int64_t m = block.b_end - block.b_begin;
    const int64_t delta = n - m;
    const bool odd = (delta & 1) != 0;
    const int64_t most = std::min((n + m + 1) / 2, kMostEdits / 2);
    const int64_t width = 2 * most + 3;
    const int64_t zero = most + 1;
    forward_.assign(static_cast<size_t>(width), 0);
    backward_.assign(static_cast<size_t>(width), 0);
    const auto at = [zero](std::vector<int64_t>& v, int64_t k) -> int64_t& {
      return v[static_cast<size_t>(zero + k)];
    };
    for (int64_t d = 0; d <= most; d++) {
      for (int64_t k = -d; k <= d; k += 2) {
        int64_t x = k == -d || (k != d && at(forward_, k - 1) < at(forward_, k + 1))
                        ? at(forward_, k + 1)
                        : at(forward_, k - 1) + 1;
        if (d == 0) x = 0;
        int64_t y = x - k;
        while (x < n && y < m && x >= 0 && y >= 0 && a(block.a_begin + x) == b(block.b_begin + y)) {
          x++;
          y++;
          steps_++;
        }
        at(forward_, k) = x;
        const int64_t other = delta - k;
        if (odd && other >= -(d - 1) && other <= d - 1 && x + at(backward_, other) >= n && x <= n && y <= m &&
            y >= 0) {
          middle = {block.a_begin + x, block.b_begin + y};
          return true;
        }
      }
      for (int64_t k = -d; k <= d; k += 2) {
        int64_t x = k == -d || (k != d && at(backward_, k - 1) < at(backward_, k + 1))
                        ? at(backward_, k + 1)
                        : at(backward_, k - 1) + 1;
        if (d == 0) x = 0;
        int64_t y = x - k;
        while (x < n && y < m && x >= 0 && y >= 0 && a(block.a_end - 1 - x) == b(block.b_end - 1 - y)) {
          x++;
          y++;
          steps_++;
        }
        at(backward_, k) = x;
        const int64_t other = delta - k;
        if (!odd && other >= -d && other <= d && x + at(forward_, other) >= n && x <= n && y <= m && y >= 0) {
          middle = {block.a_end - x, block.b_end - y};
          return true;
        }
      }
      steps_ += 2 * d + 2;
      if (steps_ > kMostSteps) return false;
    }
    return false;
  }

  const std::vector<uint32_t> a_;
  const std::vector<uint32_t> b_;
  LineDiff& into_;
  std::vector<Block> open_;
  std::vector<int64_t> forward_;
  std::vector<int64_t> backward_;
  int64_t steps_ = 0;
};

void append_line(std::string& out, char mark, std::string_view line) {
  out += mark;
  out += line;
  if (!line.empty() && line.back() == '\n') return;
  out += "\n\\ No newline at end of file\n";
}

std::string range_text(int64_t begin, int64_t count) {
  // An empty range names the line before it.
  std::string text = std::to_string(count == 0 ? begin : begin + 1);
  if (count != 1) text += "," + std::to_string(count);
  return text;
}

// One change: lines [a, a_end) became [b, b_end).
struct Change {
  int64_t a, a_end, b, b_end;
};

std::vector<Change> changes_of(const LineDiff& diff) {
  std::vector<Change> found;
  const auto a_size = static_cast<int64_t>(diff.removed.size());
  const auto b_size = static_cast<int64_t>(diff.added.size());
  int64_t a = 0;
  int64_t b = 0;
  while (a < a_size || b < b_size) {
    Change change{a, a, b, b};
    while (change.a_end < a_size && diff.removed[static_cast<size_t>(change.a_end)]) change.a_end++;
    while (change.b_end < b_size && diff.added[static_cast<size_t>(change.b_end)]) change.b_end++;
    if (change.a_end > a || change.b_end > b) found.push_back(change);
    a = change.a_end + 1;  // a line that both have
    b = change.b_end + 1;
  }
  return found;
}

}  // namespace

std::vector<std::string_view> split_lines(std::string_view text) {
  std::vector<std::string_view> lines;
  while (!text.empty()) {
    const size_t newline = text.find('\n');
    const size_t length = newline == std::string_view::npos ? text.size() : newline + 1;
    lines.push_back(text.substr(0, length));
    text.remove_prefix(length);
  }
  return lines;
}

bool is_text(std::string_view text) {
  return text.find('\0') == std::string_view::npos;
}

LineDiff diff_lines(const std::vector<std::string_view>& before, const std::vector<std::string_view>& after) {
  LineDiff diff;
  diff.removed.resize(before.size());
  diff.added.resize(after.size());
  std::unordered_map<std::string_view, uint32_t> numbers;
  const auto numbered = [&](const std::vector<std::string_view>& lines) {
    std::vector<uint32_t> made;
    made.reserve(lines.size());
    for (const std::string_view line : lines)
      made.push_back(numbers.emplace(line, static_cast<uint32_t>(numbers.size())).first->second);
    return made;
  };
  std::vector<uint32_t> a = numbered(before);
  std::vector<uint32_t> b = numbered(after);
  Comparison(std::move(a), std::move(b), diff).run();
  diff.removed_count = std::count(diff.removed.begin(), diff.removed.end(), true);
  diff.added_count = std::count(diff.added.begin(), diff.added.end(), true);
  return diff;
}

std::string unified_hunks(std::string_view before, std::string_view after) {
  const std::vector<std::string_view> a = split_lines(before);
  const std::vector<std::string_view> b = split_lines(after);
  const std::vector<Change> changes = changes_of(diff_lines(a, b));
  std::string out;
  for (size_t first = 0; first < changes.size();) {
    size_t last = first;
    while (last + 1 < changes.size() && changes[last + 1].a - changes[last].a_end <= 2 * kContext) last++;
    const int64_t lead = std::min(kContext, changes[first].a);
    const int64_t tail = std::min(kContext, static_cast<int64_t>(a.size()) - changes[last].a_end);
    const int64_t a_begin = changes[first].a - lead;
    const int64_t b_begin = changes[first].b - lead;
    const int64_t a_end = changes[last].a_end + tail;
    const int64_t b_end = changes[last].b_end + tail;
    out +=
        "@@ -" + range_text(a_begin, a_end - a_begin) + " +" + range_text(b_begin, b_end - b_begin) + " @@\n";
    int64_t at = a_begin;
    for (size_t i = first; i <= last; i++) {
      for (; at < changes[i].a; at++) append_line(out, ' ', a[static_cast<size_t>(at)]);
      for (; at < changes[i].a_end; at++) append_line(out, '-', a[static_cast<size_t>(at)]);
      for (int64_t j = changes[i].b; j < changes[i].b_end; j++)
        append_line(out, '+', b[static_cast<size_t>(j)]);
    }
    for (; at < a_end; at++) append_line(out, ' ', a[static_cast<size_t>(at)]);
    first = last + 1;
  }
  return out;
}

std::string quoted_path(std::string_view path) {
  const bool plain = std::all_of(path.begin(), path.end(), [](char c) {
    const auto byte = static_cast<unsigned char>(c);
    return byte >= 0x20 && byte != 0x7f && c != '"' && c != '\\';
  });
  if (plain) return std::string(path);
  std::string out = "\"";
  for (const char c : path) {
    const auto byte = static_cast<unsigned char>(c);
    if (c == '"' || c == '\\') {
      out += '\\';
      out += c;
    } else if (c == '\n') {
      out += "\\n";
    } else if (c == '\t') {
      out += "\\t";
    } else if (byte < 0x20 || byte == 0x7f) {
      out += {'\\', static_cast<char>('0' + (byte >> 6)), static_cast<char>('0' + ((byte >> 3) & 7)),
              static_cast<char>('0' + (byte & 7))};
    } else {
      out += c;
    }
  }
  return out + "\"";
}

}  // namespace ttyward::changes
