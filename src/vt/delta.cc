#include "vt/delta.h"

namespace ttyward::vt {

Delta changes_since(const Screen& screen, Seq seen) {
  Delta delta;
  delta.seq = screen.shown_seq();
  delta.reset = seen == 0 || screen.all_changed() > seen;
  Delta::Look& look = delta.look;
  look.cols = screen.cols();
  look.rows = screen.rows();
  look.first_row = screen.stable_row(0);
  look.cursor = screen.cursor();
  look.cursor_visible = screen.cursor_visible();
  look.cursor_shape = screen.cursor_shape();
  look.cursor_blinks = screen.cursor_blinks();
  look.alternate = screen.is_alternate();
  look.modes = screen.modes();
  const KeyboardState keyboard = screen.keyboard();
  look.kitty_flags = keyboard.kitty_flags;
  look.modify_other_keys = keyboard.modify_other_keys;
  for (int r = 0; r < screen.rows(); r++) {
    if (!delta.reset && screen.row_changed(r) <= seen) continue;
    Line line = screen.line(r);
    line.trim();
    delta.rows.push_back({screen.stable_row(r), std::move(line)});
  }
  return delta;
}

}  // namespace ttyward::vt
