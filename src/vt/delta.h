// What is new on a screen since a viewer last looked: what `attach` sends, and what any other viewer needs.
//
// Rows have stable numbers: one that scrolls up keeps its number, and is not sent again. A viewer keeps the
// rows of the screen by number, replaces those that come, and forgets those above first_row.
#pragma once

#include <cstddef>
#include <vector>

#include "vt/keyboard.h"
#include "vt/line.h"
#include "vt/modes.h"
#include "vt/screen.h"

namespace ttyward::vt {

struct Delta {
  struct ChangedRow {
    StableRow row;
    Line line;
  };
  // What is not about rows; compared to see whether there is anything new.
  struct Look {
    int cols = 0;
    int rows = 0;
    StableRow first_row = 0;
    Cursor cursor;
    bool cursor_visible = true;
    CursorShape cursor_shape = CursorShape::Block;
    bool cursor_blinks = false;
    bool alternate = false;
    ModeSet modes;
    int kitty_flags = 0;
    int modify_other_keys = 0;
    bool operator==(const Look&) const = default;
  };

  Seq seq = 0;
  bool reset = false;  // forget everything: all rows of the screen are here
  Look look;
  std::vector<ChangedRow> rows;  // in order
};

// `seen` is the seq of the last delta; 0: none.
Delta changes_since(const Screen& screen, Seq seen);

}  // namespace ttyward::vt
