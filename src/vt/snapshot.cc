#include "vt/snapshot.h"

#include <algorithm>

namespace ttyward::vt {
namespace {

Line trimmed(Line line) {
  if (!line.wrapped) line.trim();
  return line;
}

// Blanks at the end of a wrapped row count when text is joined, but nobody sees them.
bool same_to_look_at(const std::vector<Line>& a, const std::vector<Line>& b) {
  return std::equal(a.begin(), a.end(), b.begin(), b.end(), [](Line x, Line y) {
    x.trim();
    y.trim();
    return x == y;
  });
}

}  // namespace

bool Snapshot::looks_like(const Snapshot& other) const {
  return cols == other.cols && rows == other.rows && cursor == other.cursor &&
         cursor_visible == other.cursor_visible && cursor_shape == other.cursor_shape &&
         alternate == other.alternate && title == other.title && modes == other.modes &&
         same_to_look_at(lines, other.lines);
}

Snapshot take_snapshot(const Screen& screen) {
  Snapshot shot;
  shot.seq = screen.seq();
  shot.cols = screen.cols();
  shot.rows = screen.rows();
  shot.cursor = screen.cursor();
  shot.cursor_visible = screen.cursor_visible();
  shot.cursor_shape = screen.cursor_shape();
  shot.alternate = screen.is_alternate();
  shot.title = screen.title();
  shot.modes = screen.modes();
  shot.first_row = screen.stable_row(0);
  for (int r = 0; r < shot.rows; r++) {
    shot.lines.push_back(screen.line(r));
    shot.lines.back().trim();
  }
  return shot;
}

Delta changes_since(const Screen& screen, Seq seen, StableRow seen_first, size_t most_history) {
  Delta delta;
  delta.seq = screen.seq();
  delta.first_row = screen.stable_row(0);
  delta.cursor = screen.cursor();
  delta.cursor_visible = screen.cursor_visible();
  delta.reset = screen.all_changed() > seen;
  if (!delta.reset && !screen.is_alternate() && delta.first_row > seen_first) {
    // Rows the viewer may know in an older form, or not at all, have left the screen since.
    const auto gone = static_cast<size_t>(delta.first_row - seen_first);
    const size_t sent = std::min({gone, most_history, screen.history_size()});
    delta.skipped = sent < gone;
    for (size_t i = screen.history_size() - sent; i < screen.history_size(); i++) {
      delta.rows.push_back({delta.first_row - (screen.history_size() - i), trimmed(screen.history_line(i))});
    }
  }
  for (int r = 0; r < screen.rows(); r++) {
    if (delta.reset || screen.row_changed(r) > seen) {
      delta.rows.push_back({screen.stable_row(r), trimmed(screen.line(r))});
    }
  }
  return delta;
}

}  // namespace ttyward::vt
