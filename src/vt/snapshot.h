// What is on the screen now, as a value; and what is new since a viewer last looked.
#pragma once

#include <string>
#include <vector>

#include "vt/line.h"
#include "vt/screen.h"

namespace ttyward::vt {

struct Snapshot {
  Seq seq = 0;
  int cols = 0;
  int rows = 0;
  Cursor cursor;
  bool cursor_visible = true;
  CursorShape cursor_shape = CursorShape::Block;
  bool alternate = false;
  std::string title;
  ModeSet modes;
  StableRow first_row = 0;
  std::vector<Line> lines;  // one for each row, trimmed

  // Equal to look at: seq and row numbers may differ.
  bool looks_like(const Snapshot& other) const;
};

Snapshot take_snapshot(const Screen& screen);

// Rows that a viewer who saw `seen` with `seen_first` on top does not have yet, by stable number.
// A viewer who fell too far behind is told to start over rather than sent everything it missed.
struct Delta {
  struct ChangedRow {
    StableRow row;
    Line line;
  };
  Seq seq = 0;
  bool reset = false;    // forget everything: all visible rows are here
  bool skipped = false;  // rows scrolled by that are not here; read them from history if wanted
  StableRow first_row = 0;
  Cursor cursor;
  bool cursor_visible = true;
  std::vector<ChangedRow> rows;  // in order, history first
};

Delta changes_since(const Screen& screen, Seq seen, StableRow seen_first, size_t most_history = 1000);

}  // namespace ttyward::vt
