// Changing the window's size.
//
// The main screen reflows: rows joined by a soft wrap are one line, and lines are
// split again at the new width. The cursor stays on its character, marks stay
// with the row they stand in, and no text is lost: what does not fit goes to
// history, and history fills up what is free. The alternate screen belongs to a
// program that repaints it; it is cut or padded.
//
// Rows keep their StableRow while only the height changes; a new width makes new
// rows, and everything counts as changed.
#include <algorithm>
#include <array>
#include <cstring>
#include <vector>

#include "vt/screen.h"

namespace ttyward::vt {
namespace {

// Rows of one line taken back from history so that it can be split anew together with its part
// on the screen. A line longer than that keeps its old split above this point.
constexpr int kMaxPulledRows = 2000;

struct NewRow {
  std::vector<Cell> cells;
  uint16_t flags = 0;
};

// A position that must stay on its character.
struct Point {
  Cursor* cursor = nullptr;
  size_t offset = 0;  // in the line being collected
  bool in_line = false;
};

class Reflow {
 public:
  // Two positions are followed, either of which may be null: the cursor and the saved cursor.
  Reflow(uint32_t cols, Cursor* cursor, Cursor* saved) : cols_(cols), points_{{{cursor}, {saved}}} {}

  // Adds an old row to the current line; `row_number` is what tracked cursors call it.
  void add(const Cell* cells, uint32_t used, uint16_t flags, int row_number, uint32_t old_cols) {
    const size_t start = line_.size();
    const bool wrapped = (flags & Row::kWrapped) != 0;
    if (wrapped && used > 0 && cells[used - 1].kind() == CellKind::WrapSpace) used--;
    line_.insert(line_.end(), cells, cells + used);
    if (wrapped && used + 1 < old_cols) line_.resize(start + old_cols);
    const uint16_t kept = flags & (Row::kMarkFlags | Row::kSizeFlags);
    if (kept != 0) flags_.emplace_back(start, kept);
    content_flags_ = static_cast<uint16_t>(content_flags_ | (flags & Row::kContentFlags));
    for (Point& point : points_) {
      if (point.cursor == nullptr || point.cursor->row != row_number) continue;
      point.offset = start + static_cast<size_t>(point.cursor->col) + (point.cursor->pending_wrap ? 1 : 0);
      point.in_line = true;
    }
    if (!wrapped) end_line();
  }

  void end_line() {
    if (cols_ == 1) blank_wide(line_.data(), line_.size());
    // Erased columns need not be kept where they no longer fit.
    while (line_.size() > cols_ && line_.back().is_empty() && line_.back().kind() == CellKind::Narrow)
      line_.pop_back();
    size_t at = 0;
    size_t next_flag = 0;
    bool more = true;
    while (more) {
      size_t n = line_.size() - at;
      more = n > cols_;
      if (more) n = cols_ > 1 && line_[at + cols_].kind() == CellKind::WideTail ? cols_ - 1 : cols_;
      NewRow& row = rows.emplace_back();
      row.cells.assign(line_.begin() + static_cast<std::ptrdiff_t>(at),
                       line_.begin() + static_cast<std::ptrdiff_t>(at + n));
      row.flags = content_flags_;
      if (more) row.flags |= Row::kWrapped;
      if (more && n < cols_) {
        row.cells.push_back(Cell::of(0, CellKind::WrapSpace, 0));
        row.flags |= Row::kMaybeNonAscii;
      }
      for (; next_flag < flags_.size() && (flags_[next_flag].first < at + n || !more); next_flag++) {
        row.flags = static_cast<uint16_t>(row.flags | flags_[next_flag].second);
      }
      place_points(at, n, !more);
      at += n;
    }
    line_.clear();
    flags_.clear();
    content_flags_ = 0;
  }

  std::vector<NewRow> rows;

 private:
  void place_points(size_t at, size_t n, bool last) {
    for (Point& point : points_) {
      if (!point.in_line || (!last && point.offset >= at + n)) continue;
      const size_t col = point.offset - at;
      point.cursor->row = static_cast<int>(rows.size()) - 1 - kPlaced;
      point.cursor->pending_wrap = col == cols_ && n == cols_;
      point.cursor->col = static_cast<int>(std::min<size_t>(col, cols_ - 1));
      point.in_line = false;
    }
  }

 public:
  // Placed cursors are kept apart from those still to come by an offset no row number reaches.
  static constexpr int kPlaced = 1 << 24;

 private:
  uint32_t cols_;
  std::array<Point, 2> points_;
  std::vector<Cell> line_;
  std::vector<std::pair<size_t, uint16_t>> flags_;
  uint16_t content_flags_ = 0;
};

void fill_row(Row& row, const std::vector<Cell>& cells, uint16_t flags, Seq seq) {
  std::copy(cells.begin(), cells.end(), row.cells);
  row.used = static_cast<uint32_t>(cells.size());
  row.flags = flags;
  row.changed = seq;
}

}  // namespace

void Screen::resize(int cols, int rows) {
  cols = std::clamp(cols, 1, kMaxCols);
  rows = std::clamp(rows, 1, std::min(kMaxRows, kMaxCells / cols));
  if (cols == grid_->cols() && rows == grid_->rows()) return;
  seq_++;
  all_changed_ = seq_;
  frozen_.reset();
  reflow_main(cols, rows);
  if (alternate_) resize_alternate(cols, rows);
  tabs_.resize(cols);
  reset_margins();
  // Still after the last column of a full row: the next character must not overwrite it.
  const bool pending = cursor_.pending_wrap && cursor_.col == cols - 1;
  move_to(cursor_.row, cursor_.col);
  cursor_.pending_wrap = pending;
  if (modes_.has(Mode::InBandResize)) report_size();
}

void Screen::reflow_main(int cols, int rows) {
  Grid& old = main_.grid;
  const bool new_width = cols != old.cols();
  const bool here_now = on_main();
  SavedCursor& saved = main_.saved;
  if (saved.valid) saved.cursor.row = std::min(saved.cursor.row, old.rows() - 1);
  Reflow reflow(static_cast<uint32_t>(cols), here_now ? &cursor_ : nullptr,
                saved.valid ? &saved.cursor : nullptr);

  int last = here_now ? cursor_.row : saved.valid ? saved.cursor.row : 0;
  for (int r = old.rows() - 1; r > last; r--) {
    if (old.row(r).used > 0) last = r;
  }
  if (saved.valid && here_now) saved.cursor.row = std::min(saved.cursor.row, last);
  int blank_below = old.rows() - 1 - last;

  if (new_width) {
    // The first line on the screen may have begun in history.
    std::vector<UnpackedRow> pulled;
    while (static_cast<int>(pulled.size()) < kMaxPulledRows && scrollback_.newest_is_wrapped()) {
      pulled.push_back(scrollback_.pop());
    }
    const auto old_cols = static_cast<uint32_t>(old.cols());
    for (auto row = pulled.rbegin(); row != pulled.rend(); ++row) {
      reflow.add(row->cells.data(), static_cast<uint32_t>(row->cells.size()), row->flags, -1, old_cols);
    }
    top_row_ -= std::min<StableRow>(top_row_, pulled.size());
  }
  for (int r = 0; r <= last; r++) {
    const Row& row = old.row(r);
    const bool ends = r == last;  // nothing follows that it could go on in
    reflow.add(row.cells, row.used, ends ? static_cast<uint16_t>(row.flags & ~Row::kWrapped) : row.flags, r,
               static_cast<uint32_t>(old.cols()));
  }
  std::vector<NewRow>& lines = reflow.rows;

  Grid fresh(rows, cols);
  const int total = static_cast<int>(lines.size());
  const int pushed = std::max(total - rows, 0);
  blank_below = std::min(blank_below, rows - (total - pushed));
  if (new_width) {
    scrollback_.rewrap(static_cast<uint32_t>(cols), [this] {
      if (styles_.wants_sweep() || clusters_.wants_sweep()) collect_garbage();
    });
  }
  for (int i = 0; i < pushed; i++) {
    Row row;
    row.cells = lines[static_cast<size_t>(i)].cells.data();
    row.used = static_cast<uint32_t>(lines[static_cast<size_t>(i)].cells.size());
    row.flags = lines[static_cast<size_t>(i)].flags;
    leave(row);
  }
  const int wanted = rows - (total - pushed) - blank_below;
  const int pulled = static_cast<int>(scrollback_.available(static_cast<size_t>(wanted)));
  for (int r = pulled - 1; r >= 0; r--) {
    const UnpackedRow row = scrollback_.pop();
    fill_row(fresh.row(r), row.cells, row.flags, seq_);
  }
  for (int i = pushed; i < total; i++) {
    const NewRow& line = lines[static_cast<size_t>(i)];
    fill_row(fresh.row(i - pushed + pulled), line.cells, line.flags, seq_);
  }
  for (int r = 0; r < rows; r++) fresh.row(r).changed = seq_;
  // Numbers must not fall below zero for any row of history, however many rows the new width makes of it.
  if (new_width)
    top_row_ = std::max<StableRow>(top_row_, options_.scrollback.lines + static_cast<size_t>(rows));
  top_row_ = top_row_ + static_cast<StableRow>(pushed) - static_cast<StableRow>(pulled);
  old = std::move(fresh);

  const auto settle = [&](Cursor& cursor) {
    if (cursor.row < 0) cursor.row += Reflow::kPlaced - pushed + pulled;
    cursor.row = std::clamp(cursor.row, 0, rows - 1);
    cursor.col = std::clamp(cursor.col, 0, cols - 1);
  };
  const bool pending = cursor_.pending_wrap;
  if (here_now) settle(cursor_);
  if (saved.valid) settle(saved.cursor);
  if (!here_now) cursor_.pending_wrap = pending;
  collect_garbage();
}

void Screen::resize_alternate(int cols, int rows) {
  Grid& old = alternate_->grid;
  // Rows are lost at the top only as far as the cursor needs the space.
  const int dropped = on_main() ? 0 : std::max(cursor_.row - (rows - 1), 0);
  Grid fresh(rows, cols);
  for (int r = 0; r < std::min(rows, old.rows() - dropped); r++) {
    Row& from = old.row(r + dropped);
    const auto width = static_cast<uint32_t>(cols);
    old.split_wide(from, width);
    Row& to = fresh.row(r);
    to.used = std::min(from.used, width);
    to.flags = from.flags & static_cast<uint16_t>(~Row::kWrapped);
    std::memcpy(to.cells, from.cells, to.used * sizeof(Cell));
  }
  for (int r = 0; r < rows; r++) fresh.row(r).changed = seq_;
  old = std::move(fresh);
  if (!on_main()) cursor_.row -= dropped;
  Cursor& saved = alternate_->saved.cursor;
  saved.row = std::min(saved.row, rows - 1);
  saved.col = std::min(saved.col, cols - 1);
}

}  // namespace ttyward::vt
