// What is on a screen, as a value, for tests that compare screens.
#pragma once

#include <algorithm>
#include <string>
#include <vector>

#include "vt/line.h"
#include "vt/screen.h"

namespace ttyward::vt {

struct Snapshot {
  int cols = 0;
  int rows = 0;
  Cursor cursor;
  bool cursor_visible = true;
  CursorShape cursor_shape = CursorShape::Block;
  bool alternate = false;
  std::string title;
  ModeSet modes;
  std::vector<Line> lines;  // one for each row, trimmed

  bool operator==(const Snapshot&) const = default;
};

inline Snapshot take_snapshot(const Screen& screen) {
  Snapshot shot{screen.cols(),           screen.rows(),         screen.cursor(),
                screen.cursor_visible(), screen.cursor_shape(), screen.is_alternate(),
                screen.title(),          screen.modes(),        {}};
  for (int r = 0; r < shot.rows; r++) {
    shot.lines.push_back(screen.line(r));
    shot.lines.back().trim();
  }
  return shot;
}

}  // namespace ttyward::vt
