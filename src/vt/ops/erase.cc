// Erasing. What is erased takes the current background colour and nothing else.
#include <algorithm>
#include <utility>

#include "vt/screen.h"

namespace ttyward::vt {

// Erases [from, to) of a row. Protected cells stay if asked to be respected.
void Screen::erase_cells(int r, int from, int to, Respect respect) {
  Row& row = grid_->row(r);
  const StyleId blank = blank_id();
  touch(row);
  if (respect == Respect::Nothing) {
    grid_->erase(row, static_cast<uint32_t>(from), static_cast<uint32_t>(to), blank);
    return;
  }
  // Selective erase: runs of unprotected cells go, everything else keeps its place.
  int start = from;
  for (int c = from; c <= to; c++) {
    const bool keeps =
        c < to && static_cast<uint32_t>(c) < row.used && styles_[row.cells[c].style].has(Style::kProtected);
    if (c < to && !keeps) continue;
    grid_->erase(row, static_cast<uint32_t>(start), static_cast<uint32_t>(c), blank);
    start = c + 1;
  }
}

void Screen::erase_display(int how, Respect respect) {
  const int cols = grid_->cols();
  const auto erase_rows = [&](int from, int to) {
    for (int r = from; r < to; r++) {
      grid_->row(r).unset(Row::kWrapped |
                          (respect == Respect::Nothing ? Row::kSizeFlags | Row::kMarkFlags : 0));
      erase_cells(r, 0, cols, respect);
    }
  };
  switch (how) {
    case 0:
      erase_line(0, respect);
      erase_rows(cursor_.row + 1, grid_->rows());
      break;
    case 1:
      erase_rows(0, cursor_.row);
      erase_line(1, respect);
      break;
    case 2:
      erase_rows(0, grid_->rows());
      break;
    case 3:
      if (respect == Respect::Nothing) scrollback_.clear();
      break;
    default:
      return;
  }
  if (how <= 2) cursor_.pending_wrap = false;
}

void Screen::erase_line(int how, Respect respect) {
  const int cols = grid_->cols();
  cursor_.pending_wrap = false;
  switch (how) {
    case 0:
      here().unset(Row::kWrapped);
      erase_cells(cursor_.row, cursor_.col, cols, respect);
      break;
    case 1:
      if (cursor_.row > 0) grid_->row(cursor_.row - 1).unset(Row::kWrapped);
      erase_cells(cursor_.row, 0, cursor_.col + 1, respect);
      break;
    case 2:
      here().unset(Row::kWrapped);
      erase_cells(cursor_.row, 0, cols, respect);
      break;
    default:
      break;
  }
}

void Screen::ED_EraseDisplay(P p) {
  erase_display(p[0], protection_ == Protection::Iso ? Respect::Protected : Respect::Nothing);
}

void Screen::EL_EraseLine(P p) {
  erase_line(p[0], protection_ == Protection::Iso ? Respect::Protected : Respect::Nothing);
}

void Screen::DECSED_SelectiveEraseDisplay(P p) {
  erase_display(p[0], Respect::Protected);
}
void Screen::DECSEL_SelectiveEraseLine(P p) {
  erase_line(p[0], Respect::Protected);
}

void Screen::ECH_EraseCharacters(P p) {
  cursor_.pending_wrap = false;
  const int to = std::min(cursor_.col + p.get(0, 1), grid_->cols());
  if (to == grid_->cols()) here().unset(Row::kWrapped);
  erase_cells(cursor_.row, cursor_.col, to,
              protection_ == Protection::Iso ? Respect::Protected : Respect::Nothing);
}

void Screen::DECALN_AlignmentPattern(P) {
  reset_margins();
  modes_.assign(Mode::Origin, false);
  const Style old = std::exchange(pen_, Style{});
  pen_.attributes = old.attributes & Style::kProtected;
  pen_.link = old.link;
  pen_changed();
  for (int r = 0; r < grid_->rows(); r++) {
    Row& row = grid_->row(r);
    row.flags = 0;
    row.used = static_cast<uint32_t>(grid_->cols());
    for (uint32_t c = 0; c < row.used; c++) row.cells[c] = {'E', 0};
    touch(row);
  }
  move_to(0, 0);
}

// DECDWL, DECDHL: the row remembers its size; the cells stay as they are.
void Screen::set_row_size(uint16_t flags) {
  if (modes_.has(Mode::LeftRightMargins)) return;
  here().unset(Row::kSizeFlags);
  here().set(flags);
  touch(here());
}

void Screen::DECDHL_DoubleHeightTop(P) {
  set_row_size(Row::kDoubleWidth | Row::kDoubleTop);
}
void Screen::DECDHL_DoubleHeightBottom(P) {
  set_row_size(Row::kDoubleWidth | Row::kDoubleBottom);
}
void Screen::DECSWL_SingleWidth(P) {
  set_row_size(0);
}
void Screen::DECDWL_DoubleWidth(P) {
  set_row_size(Row::kDoubleWidth);
}

// DECSCA protects what is printed from selective erase; SPA (ISO) from every erase.
void Screen::DECSCA_Protect(P p) {
  if (p[0] == 1) {
    pen_.set(Style::kProtected);
    protection_ = Protection::Dec;
  } else if (p[0] == 0 || p[0] == 2) {
    pen_.clear(Style::kProtected);
  }
  pen_changed();
}

void Screen::SPA_StartProtected(P) {
  pen_.set(Style::kProtected);
  protection_ = Protection::Iso;
  pen_changed();
}

void Screen::EPA_EndProtected(P) {
  pen_.clear(Style::kProtected);
  pen_changed();
}

}  // namespace ttyward::vt
