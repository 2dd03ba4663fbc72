// Scrolling, inserting and deleting lines and columns, and the margins they happen in.
#include <algorithm>

#include "vt/screen.h"

namespace ttyward::vt {

// A row leaves the main screen for good.
void Screen::leave(const Row& row) {
  scrollback_.push(row);
  if (options_.sink != nullptr) options_.sink->row_left(read_row(row, styles_, clusters_));
}

// The whole main screen by one row: what printing a log does at every line.
void Screen::scroll_one() {
  Row& row = grid_->row(0);  // and then the last one
  leave(row);
  top_row_++;
  grid_->rotate_up(0, bottom_, 1);
  grid_->clear(row, blank_id());
  touch(row);
}

// Rows leave at the top. They go to history only from the top of the main screen and at full width:
// anything else is a program redrawing, not output that ran past.
void Screen::scroll_up(int top, int bottom, int n, History history) {
  n = std::min(n, bottom - top + 1);
  if (n <= 0) return;
  const StyleId blank = blank_id();
  if (!full_width()) {
    const auto left = static_cast<uint32_t>(left_);
    const auto right = static_cast<uint32_t>(right_);
    for (int r = top; r + n <= bottom; r++) grid_->copy_cells(grid_->row(r + n), grid_->row(r), left, right);
    for (int r = bottom - n + 1; r <= bottom; r++) grid_->erase(grid_->row(r), left, right + 1, blank);
    touch_rows(top, bottom);
    return;
  }
  const bool kept = history == History::Keep && top == 0 && on_main();
  if (kept) {
    for (int r = 0; r < n; r++) leave(grid_->row(r));
    top_row_ += static_cast<StableRow>(n);
  }
  if (top > 0) grid_->row(top - 1).unset(Row::kWrapped);  // what it went on in is gone
  grid_->rotate_up(top, bottom, n);
  for (int r = bottom - n + 1; r <= bottom; r++) {
    Row& row = grid_->row(r);
    grid_->clear(row, blank);
    touch(row);
  }
  // Rows keep their numbers when all of them move; those that stay put get new ones.
  if (!kept) touch_rows(top, bottom - n);
  if (kept && bottom != grid_->rows() - 1) touch_rows(bottom + 1, grid_->rows() - 1);
}

void Screen::scroll_down(int top, int bottom, int n) {
  n = std::min(n, bottom - top + 1);
  if (n <= 0) return;
  const StyleId blank = blank_id();
  touch_rows(top, bottom);
  if (!full_width()) {
    const auto left = static_cast<uint32_t>(left_);
    const auto right = static_cast<uint32_t>(right_);
    for (int r = bottom; r - n >= top; r--) grid_->copy_cells(grid_->row(r - n), grid_->row(r), left, right);
    for (int r = top; r < top + n; r++) grid_->erase(grid_->row(r), left, right + 1, blank);
    return;
  }
  if (top > 0) grid_->row(top - 1).unset(Row::kWrapped);  // what it went on in has moved away
  grid_->rotate_down(top, bottom, n);
  grid_->row(bottom).unset(Row::kWrapped);
  for (int r = top; r < top + n; r++) {
    grid_->clear(grid_->row(r), blank);
    touch(grid_->row(r));
  }
}

void Screen::scroll_out() {
  if (!on_main() || cursor_.row == 0) return;
  seq_++;
  const int n = cursor_.row;
  scroll_up(0, grid_->rows() - 1, n, History::Keep);
  cursor_.row = 0;
}

void Screen::SU_ScrollUp(P p) {
  scroll_up(top_, bottom_, p.get(0, 1), History::Keep);
}

void Screen::SD_ScrollDown(P p) {
  scroll_down(top_, bottom_, p.get(0, 1));
}

// CSI T with five parameters, or with 0, belongs to xterm's highlight mouse tracking.
void Screen::SD_ScrollDownOrTrack(P p) {
  if (p.size() <= 1 && !(p.size() == 1 && p[0] == 0)) SD_ScrollDown(p);
}

void Screen::IL_InsertLines(P p) {
  if (!in_margins()) return;
  scroll_down(cursor_.row, bottom_, p.get(0, 1));
  cursor_.col = left_;
  cursor_.pending_wrap = false;
}

void Screen::DL_DeleteLines(P p) {
  if (!in_margins()) return;
  scroll_up(cursor_.row, bottom_, p.get(0, 1), History::Drop);
  cursor_.col = left_;
  cursor_.pending_wrap = false;
}

void Screen::ICH_InsertCharacters(P p) {
  cursor_.pending_wrap = false;
  if (cursor_.col < left_ || cursor_.col > right_) return;
  Row& row = here();
  row.unset(Row::kWrapped);
  grid_->insert_cells(row, static_cast<uint32_t>(cursor_.col), static_cast<uint32_t>(p.get(0, 1)),
                      static_cast<uint32_t>(right_) + 1, blank_id());
  touch(row);
}

void Screen::DCH_DeleteCharacters(P p) {
  cursor_.pending_wrap = false;
  if (cursor_.col < left_ || cursor_.col > right_) return;
  Row& row = here();
  row.unset(Row::kWrapped);
  grid_->delete_cells(row, static_cast<uint32_t>(cursor_.col), static_cast<uint32_t>(p.get(0, 1)),
                      static_cast<uint32_t>(right_) + 1, blank_id());
  touch(row);
}

void Screen::DECIC_InsertColumns(P p) {
  if (!in_margins()) return;
  for (int r = top_; r <= bottom_; r++) {
    grid_->insert_cells(grid_->row(r), static_cast<uint32_t>(cursor_.col), static_cast<uint32_t>(p.get(0, 1)),
                        static_cast<uint32_t>(right_) + 1, blank_id());
    touch(grid_->row(r));
  }
}

void Screen::DECDC_DeleteColumns(P p) {
  if (!in_margins()) return;
  for (int r = top_; r <= bottom_; r++) {
    grid_->delete_cells(grid_->row(r), static_cast<uint32_t>(cursor_.col), static_cast<uint32_t>(p.get(0, 1)),
                        static_cast<uint32_t>(right_) + 1, blank_id());
    touch(grid_->row(r));
  }
}

void Screen::SL_ScrollLeft(P p) {
  if (!in_margins()) return;
  for (int r = top_; r <= bottom_; r++) {
    grid_->delete_cells(grid_->row(r), static_cast<uint32_t>(left_), static_cast<uint32_t>(p.get(0, 1)),
                        static_cast<uint32_t>(right_) + 1, blank_id());
    touch(grid_->row(r));
  }
}

void Screen::SR_ScrollRight(P p) {
  if (!in_margins()) return;
  for (int r = top_; r <= bottom_; r++) {
    grid_->insert_cells(grid_->row(r), static_cast<uint32_t>(left_), static_cast<uint32_t>(p.get(0, 1)),
                        static_cast<uint32_t>(right_) + 1, blank_id());
    touch(grid_->row(r));
  }
}

void Screen::set_margins(int top, int bottom) {
  top_ = top;
  bottom_ = bottom;
  set_position(0, 0);
}

void Screen::reset_margins() {
  top_ = 0;
  bottom_ = grid_->rows() - 1;
  left_ = 0;
  right_ = grid_->cols() - 1;
}

void Screen::DECSTBM_SetTopBottomMargins(P p) {
  const int top = p.get(0, 1) - 1;
  const int bottom = std::min(p.get(1, grid_->rows()), grid_->rows()) - 1;
  if (top >= bottom) return;
  set_margins(top, bottom);
}

// CSI s: with left and right margins on it sets them, otherwise it saves the cursor (SCOSC).
void Screen::DECSLRM_SetLeftRightMargins(P p) {
  if (!modes_.has(Mode::LeftRightMargins)) {
    save_cursor();
    return;
  }
  const int left = p.get(0, 1) - 1;
  const int right = std::min(p.get(1, grid_->cols()), grid_->cols()) - 1;
  if (left >= right) return;
  left_ = left;
  right_ = right;
  set_position(0, 0);
}

}  // namespace ttyward::vt
