// Tab stops.
#pragma once

#include <algorithm>
#include <vector>

namespace ttyward::vt {

class TabStops {
 public:
  static constexpr int kEvery = 8;

  explicit TabStops(int cols) { resize(cols); }

  void set(int col) { stops_[static_cast<size_t>(col)] = true; }
  void clear(int col) { stops_[static_cast<size_t>(col)] = false; }
  void clear_all() { std::fill(stops_.begin(), stops_.end(), false); }
  void reset() {
    for (size_t i = 0; i < stops_.size(); i++) stops_[i] = i != 0 && i % kEvery == 0;
  }
  // Columns added on the right get the usual stops.
  void resize(int cols) {
    const size_t before = stops_.size();
    stops_.resize(static_cast<size_t>(cols), false);
    for (size_t i = before; i < stops_.size(); i++) stops_[i] = i != 0 && i % kEvery == 0;
  }
  bool is_set(int col) const { return stops_[static_cast<size_t>(col)]; }
  // The next stop right of `col`, at most `limit`.
  int next(int col, int limit) const {
    for (int c = col + 1; c < limit; c++) {
      if (is_set(c)) return c;
    }
    return limit;
  }
  // The next stop left of `col`, at least `limit`.
  int previous(int col, int limit) const {
    for (int c = col - 1; c > limit; c--) {
      if (is_set(c)) return c;
    }
    return limit;
  }
  bool operator==(const TabStops&) const = default;

 private:
  std::vector<bool> stops_;
};

}  // namespace ttyward::vt
