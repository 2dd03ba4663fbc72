// Moving the cursor, tabs, and saving and restoring it.
#include <algorithm>

#include "vt/screen.h"

namespace ttyward::vt {

void Screen::move_to(int row, int col) {
  cursor_.row = std::clamp(row, 0, grid_->rows() - 1);
  cursor_.col = std::clamp(col, 0, grid_->cols() - 1);
  cursor_.pending_wrap = false;
}

// An address as programs give it: relative to the margins in origin mode, and then kept inside them.
void Screen::set_position(int row, int col) {
  if (modes_.has(Mode::Origin)) {
    move_to(std::min(row + top_, bottom_), std::min(col + left_, right_));
  } else {
    move_to(row, col);
  }
}

void Screen::CUU_CursorUp(P p) {
  const int limit = cursor_.row >= top_ ? top_ : 0;
  move_to(std::max(cursor_.row - p.get(0, 1), limit), cursor_.col);
}

void Screen::CUD_CursorDown(P p) {
  const int limit = cursor_.row <= bottom_ ? bottom_ : grid_->rows() - 1;
  move_to(std::min(cursor_.row + p.get(0, 1), limit), cursor_.col);
}

// How far right steps and tabs go. Rows of double width end half way, unless there are margins: as in xterm.
int Screen::last_column() const {
  const int half = grid_->cols() / 2;
  const bool is_double = grid_->row(cursor_.row).has(Row::kDoubleWidth);
  if (is_double && half > 0 && !modes_.has(Mode::LeftRightMargins)) return half - 1;
  return cursor_.col <= right_ ? right_ : grid_->cols() - 1;
}

void Screen::CUF_CursorForward(P p) {
  move_to(cursor_.row, std::min(cursor_.col + p.get(0, 1), last_column()));
}

// Left, and in the reverse-wrap modes on to the end of the row above: ?45 only where the text
// was wrapped, ?1045 anywhere.
void Screen::cursor_left(int n) {
  const bool extended = modes_.has(Mode::ExtendedReverseWrap);
  const bool reverse = modes_.has(Mode::AutoWrap) && (extended || modes_.has(Mode::ReverseWrap));
  if (reverse && cursor_.pending_wrap) n--;
  cursor_.pending_wrap = false;
  const int most = grid_->cols() * grid_->rows();
  for (n = std::min(n, most); n > 0;) {
    const int limit = cursor_.col >= left_ ? left_ : 0;
    const int step = std::min(n, cursor_.col - limit);
    cursor_.col -= step;
    n -= step;
    if (n == 0 || !reverse) return;
    if (cursor_.row == top_) {
      if (!extended) return;
      cursor_.row = bottom_;
    } else if (cursor_.row == 0) {
      return;
    } else {
      if (!extended && !grid_->row(cursor_.row - 1).has(Row::kWrapped)) return;
      cursor_.row--;
    }
    cursor_.col = right_;
    n--;
  }
}

void Screen::CUB_CursorBackward(P p) {
  cursor_left(p.get(0, 1));
}
void Screen::backspace() {
  cursor_left(1);
}

void Screen::CNL_CursorNextLine(P p) {
  CUD_CursorDown(p);
  carriage_return();
}

void Screen::CPL_CursorPreviousLine(P p) {
  CUU_CursorUp(p);
  carriage_return();
}

void Screen::CHA_CursorColumn(P p) {
  const int row = cursor_.row;
  set_position(0, p.get(0, 1) - 1);
  cursor_.row = row;
}

void Screen::CUP_CursorPosition(P p) {
  set_position(p.get(0, 1) - 1, p.get(1, 1) - 1);
}

void Screen::VPA_CursorRow(P p) {
  const int col = cursor_.col;
  set_position(p.get(0, 1) - 1, 0);
  cursor_.col = col;
}

void Screen::HPR_ColumnForward(P p) {
  const int limit = modes_.has(Mode::Origin) ? right_ : grid_->cols() - 1;
  move_to(cursor_.row, std::min(cursor_.col + p.get(0, 1), limit));
}

void Screen::VPR_RowForward(P p) {
  const int limit = modes_.has(Mode::Origin) ? bottom_ : grid_->rows() - 1;
  move_to(std::min(cursor_.row + p.get(0, 1), limit), cursor_.col);
}

void Screen::carriage_return() {
  cursor_.col = cursor_.col >= left_ || modes_.has(Mode::Origin) ? left_ : 0;
  cursor_.pending_wrap = false;
}

void Screen::index() {
  cursor_.pending_wrap = false;
  if (cursor_.row == bottom_) {
    if (top_ == 0 && bottom_ == grid_->rows() - 1 && full_width() && on_main()) return scroll_one();
    if (cursor_.col >= left_ && cursor_.col <= right_) scroll_up(top_, bottom_, 1, History::Keep);
  } else if (cursor_.row < grid_->rows() - 1) {
    cursor_.row++;
  }
}

void Screen::reverse_index() {
  cursor_.pending_wrap = false;
  if (cursor_.row == top_) {
    if (cursor_.col >= left_ && cursor_.col <= right_) scroll_down(top_, bottom_, 1);
  } else if (cursor_.row > 0) {
    cursor_.row--;
  }
}

void Screen::line_feed(uint8_t control) {
  index();
  if ((options_.lf_is_crlf && control == '\n') || modes_.has(Mode::LineFeedNewLine)) carriage_return();
}

void Screen::IND_Index(P) {
  index();
}
void Screen::RI_ReverseIndex(P) {
  reverse_index();
}
void Screen::NEL_NextLine(P) {
  index();
  carriage_return();
}

// Unlike other motion tabs, forward and backward, keep the pending wrap.
void Screen::horizontal_tab() {
  // ?41: programs that fill a row and then tab mean the next one.
  if (cursor_.pending_wrap && modes_.has(Mode::TabAfterWrap)) wrap_line();
  cursor_.col = tabs_.next(cursor_.col, last_column());
}

void Screen::CHT_TabForward(P p) {
  for (int n = std::min(p.get(0, 1), grid_->cols()); n > 0; n--) horizontal_tab();
}

void Screen::CBT_TabBackward(P p) {
  const int limit = modes_.has(Mode::Origin) && cursor_.col >= left_ ? left_ : 0;
  for (int n = std::min(p.get(0, 1), grid_->cols()); n > 0; n--)
    cursor_.col = tabs_.previous(cursor_.col, limit);
}

void Screen::HTS_SetTab(P) {
  tabs_.set(cursor_.col);
}

void Screen::TBC_ClearTabs(P p) {
  if (p[0] == 0) tabs_.clear(cursor_.col);
  if (p[0] == 3) tabs_.clear_all();
}

void Screen::DECST8C_SetTabsEveryEight(P p) {
  if (p[0] == 5) tabs_.reset();
}

void Screen::save_cursor() {
  side().saved = {cursor_, pen_, charset_, modes_.has(Mode::Origin), true};
}

void Screen::restore_cursor() {
  const SavedCursor saved = side().saved;  // never saved: home and defaults
  pen_ = saved.pen;
  pen_changed();
  charset_ = saved.charset;
  charset_.single_shift = -1;
  update_plain();
  modes_.assign(Mode::Origin, saved.origin);
  cursor_ = saved.cursor;
  cursor_.row = std::min(cursor_.row, grid_->rows() - 1);
  cursor_.col = std::min(cursor_.col, grid_->cols() - 1);
  if (!saved.origin) return;
  cursor_.row = std::clamp(cursor_.row, top_, bottom_);
  cursor_.col = std::clamp(cursor_.col, left_, right_);
}

void Screen::DECSC_SaveCursor(P) {
  save_cursor();
}
void Screen::DECRC_RestoreCursor(P) {
  restore_cursor();
}
void Screen::SCORC_RestoreCursor(P) {
  restore_cursor();
}

void Screen::DECSCUSR_CursorStyle(P p) {
  if (p[0] > 6) return;
  const int style = p.get(0, 1);
  cursor_shape_ = style <= 2 ? CursorShape::Block : style <= 4 ? CursorShape::Underline : CursorShape::Bar;
  modes_.assign(Mode::CursorBlink, style % 2 == 1);
}

// DECBI, DECFI: a step sideways that scrolls the margins' contents at their edge.
void Screen::DECBI_BackIndex(P p) {
  cursor_.pending_wrap = false;
  if (cursor_.col != left_) {
    cursor_.col = std::max(cursor_.col - 1, 0);
  } else if (cursor_.row >= top_ && cursor_.row <= bottom_) {
    DECIC_InsertColumns(p);
  }
}

void Screen::DECFI_ForwardIndex(P p) {
  if (cursor_.col != right_) {
    cursor_.pending_wrap = false;
    cursor_.col = std::min(cursor_.col + 1, grid_->cols() - 1);
  } else if (cursor_.row >= top_ && cursor_.row <= bottom_) {
    const int col = cursor_.col;
    cursor_.col = left_;
    DECDC_DeleteColumns(p);
    cursor_.col = col;
  }
}

}  // namespace ttyward::vt
