// Text: from characters to cells.
//
// Deferred wrap, as xterm has it: writing the last column leaves the cursor
// there and sets pending_wrap; the next character wraps first.
#include <algorithm>
#include <array>

#include "vt/fill.h"
#include "vt/screen.h"

namespace ttyward::vt {

void Screen::wrap_line() {
  if (full_width()) {
    Row& row = here();
    row.set(Row::kWrapped);
    touch(row);
  }
  cursor_.pending_wrap = false;
  index();
  cursor_.col = left_;
}

void Screen::print_ascii(const uint8_t* text, size_t n) {
  if (!plain_) {
    for (size_t i = 0; i < n; i++) print_one(text[i]);
    return;
  }
  if (modes_.has(Mode::GraphemeClusters) && last_char_ >= 0x80) {  // a prepended mark may take the first one
    print_one(*text++);
    if (--n == 0) return;
  }
  grapheme_.reset();  // nothing of what came before reaches past two ASCII characters
  last_char_ = text[n - 1];
  const StyleId style = pen_id();
  const bool wraps = modes_.has(Mode::AutoWrap);
  while (n > 0) {
    if (cursor_.pending_wrap) {
      if (wraps) {
        wrap_line();
      } else {
        cursor_.pending_wrap = false;
        // Every further character overwrites the last column: only the last one stays.
        if (cursor_.col == right_limit() - 1) {
          text += n - 1;
          n = 1;
        }
      }
    }
    const auto col = static_cast<uint32_t>(cursor_.col);
    const auto limit = static_cast<uint32_t>(right_limit());
    const uint32_t count = n < limit - col ? static_cast<uint32_t>(n) : limit - col;
    Row& row = here();
    grid_->materialize(row, col);
    grid_->split_wide(row, col);
    grid_->split_wide(row, col + count);
    widen_ascii(row.cells + col, text, count, style);
    row.used = std::max(row.used, col + count);
    if (style != 0) row.set(Row::kMaybeStyled);
    touch(row);
    text += count;
    n -= count;
    if (col + count == limit) {
      cursor_.col = static_cast<int>(limit) - 1;
      cursor_.pending_wrap = true;
    } else {
      cursor_.col = static_cast<int>(col + count);
    }
  }
}

// Writes one cell (or two) at the cursor and moves on.
void Screen::put(Glyph glyph, int width) {
  const bool wraps = modes_.has(Mode::AutoWrap);
  const bool was_pending = cursor_.pending_wrap;
  if (cursor_.pending_wrap) {
    if (wraps) wrap_line();
    cursor_.pending_wrap = false;
  }
  int limit = right_limit();
  if (cursor_.col + width > limit) {  // a wide character in the last column
    if (wraps && limit - left_ >= width) {
      if (limit == grid_->cols()) {
        Row& row = here();
        grid_->materialize(row, static_cast<uint32_t>(limit));
        Cell& last = row.cells[cursor_.col];  // what is there stays; a blank is not part of the text
        if (last.is_empty() && last.kind() == CellKind::Narrow) {
          last = Cell::of(0, CellKind::WrapSpace, last.style);
          row.set(Row::kMaybeNonAscii);
        }
      }
      wrap_line();
      limit = right_limit();
    } else {
      cursor_.pending_wrap = was_pending && !wraps;
      return;  // nowhere to go
    }
  }
  const auto col = static_cast<uint32_t>(cursor_.col);
  Row& row = here();
  if (modes_.has(Mode::Insert) && cursor_.col >= left_ && cursor_.col <= right_) {
    grid_->insert_cells(row, col, static_cast<uint32_t>(width), static_cast<uint32_t>(limit), blank_id());
  }
  const StyleId style = pen_id();
  grid_->materialize(row, col);
  grid_->split_wide(row, col);
  grid_->split_wide(row, col + static_cast<uint32_t>(width));
  if (width == 2) {
    row.cells[col] = {glyph | static_cast<uint32_t>(CellKind::Wide) << Cell::kKindShift, style};
    row.cells[col + 1] = Cell::of(0, CellKind::WideTail, style);
    row.set(Row::kMaybeWide);
  } else {
    row.cells[col] = {glyph, style};
  }
  row.used = std::max(row.used, col + static_cast<uint32_t>(width));
  row.set(Row::kMaybeNonAscii);
  if (style != 0) row.set(Row::kMaybeStyled);
  touch(row);
  cursor_.col += width;
  if (cursor_.col >= limit) {
    cursor_.col = limit - 1;
    cursor_.pending_wrap = true;
  }
}

// The same as print_one for each, a row at a time: modes are looked at once a run.
void Screen::print_text(const char32_t* text, size_t n) {
  const char32_t* const end = text + n;
  if (!plain_ || modes_.has(Mode::GraphemeClusters)) {
    while (text < end) print_one(*text++);
    return;
  }
  while (text < end) {
    char32_t last_char = 0;
    const uint8_t first_width = char_width(*text);
    const auto limit = static_cast<uint32_t>(right_limit());
    auto col = static_cast<uint32_t>(cursor_.col);
    if (first_width == 0 || cursor_.pending_wrap || col + first_width > limit) {
      print_one(*text++);
      continue;
    }
    Row& row = here();
    grid_->materialize(row, col);
    grid_->split_wide(row, col);
    const StyleId style = pen_id();
    Cell* const cells = row.cells;
    uint32_t last = col;  // where the last character written starts
    const auto join = [&](char32_t mark) {
      const Glyph joined = clusters_.append(cells[last].glyph(), mark);
      cells[last].content = (cells[last].content & ~(Cell::kContentMask | Cell::kClusterBit)) | joined;
    };
    uint8_t widths = 0;  // of all characters, or'ed
    // While two columns are left every character is written with a tail, so that its width need not be
    // guessed: after a narrow one the next character, or at the end what was there before, takes the tail's
    // place.
    Cell under_tail;
    const char32_t* const first = text;
    for (; text < end && col + 2 <= limit; text++) {
      const char32_t c = *text;
      const uint8_t width = char_width(c);
      if (width == 0) {
        join(c);
        continue;
      }
      last = col;
      last_char = c;
      under_tail = cells[col + 1];
      cells[col] = {c | static_cast<uint32_t>(width >> 1) << Cell::kKindShift, style};
      cells[col + 1] = Cell::of(0, CellKind::WideTail, style);
      widths |= width;
      col += width;
    }
    if (text != first && col == last + 1) cells[col] = under_tail;
    for (; text < end; text++) {
      const char32_t c = *text;
      const uint8_t width = char_width(c);
      if (width == 0) {
        join(c);
        continue;
      }
      if (col + width > limit) break;
      last = col;
      last_char = c;
      cells[col] = {c, style};  // two columns are not left any more
      col++;
    }
    last_char_ = last_char;
    if ((widths & 2) != 0) row.set(Row::kMaybeWide);
    // A wide character whose first half was just overwritten.
    if (col < row.used && cells[col].kind() == CellKind::WideTail) cells[col].content = 0;
    row.used = std::max(row.used, col);
    row.set(static_cast<uint16_t>(Row::kMaybeNonAscii | (style != 0 ? Row::kMaybeStyled : 0)));
    touch(row);
    cursor_.pending_wrap = col == limit;
    cursor_.col = static_cast<int>(col == limit ? limit - 1 : col);
  }
}

void Screen::print_one(char32_t code_point) {
  if (code_point < 0x80) {
    uint8_t set = charset_.left;
    if (charset_.single_shift >= 0) {
      set = static_cast<uint8_t>(charset_.single_shift);
      charset_.single_shift = -1;
      update_plain();
    }
    if (charset_.sets[set] != Charset::Ascii) {
      code_point = translate(charset_.sets[set], static_cast<uint8_t>(code_point));
    }
  }
  const uint8_t width = code_point < 0x300 ? 1 : char_width(code_point);
  if (modes_.has(Mode::GraphemeClusters) && join_cluster(code_point, width)) return;
  if (width == 0) {
    combine(code_point);
    return;
  }
  put(code_point, width);
  last_char_ = code_point;
}

// The cell that a mark printed now belongs to: the one before the cursor.
Cell* Screen::previous_cell(Row** found) {
  Row& row = here();
  int col = cursor_.pending_wrap ? cursor_.col : cursor_.col - 1;
  if (col < 0 || static_cast<uint32_t>(col) >= row.used) return nullptr;
  if (row.cells[col].kind() == CellKind::WideTail && col > 0) col--;
  *found = &row;
  return &row.cells[col];
}

void Screen::combine(char32_t code_point) {
  Row* row = nullptr;
  Cell* cell = previous_cell(&row);
  if (cell == nullptr) return;
  const Glyph base = cell->is_empty() ? Glyph{' '} : cell->glyph();
  const Glyph joined = clusters_.append(base, code_point);
  cell->content = (cell->content & ~(Cell::kContentMask | Cell::kClusterBit)) | joined;
  row->set(Row::kMaybeNonAscii);
  touch(*row);
}

// Mode 2027: the character joins the one before it if the two are one grapheme cluster.
bool Screen::join_cluster(char32_t code_point, uint8_t width) {
  const char32_t before = last_char_;
  if (before == 0) {
    grapheme_.reset();
    return false;
  }
  if (grapheme_.breaks_between(before, code_point)) return false;
  Row* row = nullptr;
  Cell* cell = previous_cell(&row);
  if (cell == nullptr || cell->is_empty()) return false;
  const Glyph old = cell->glyph();
  const Glyph joined = clusters_.append(old, code_point);
  last_char_ = code_point;
  if (joined == old) return true;  // at a limit: a lone code point keeps the width the table gives it
  cell->content = (cell->content & ~(Cell::kContentMask | Cell::kClusterBit)) | joined;
  row->set(Row::kMaybeNonAscii);
  touch(*row);
  const bool emoji_style = code_point == 0xFE0F && can_be_emoji(clusters_.first_code_point(old));
  const bool widens = emoji_style || width == 2 || (code_point >= 0x1F1E6 && code_point <= 0x1F1FF);
  const auto at = static_cast<uint32_t>(cell - row->cells);
  if (cell->kind() == CellKind::Narrow && widens) {
    // The cluster turned out to be wide: take it back and write it again in two columns.
    cell->content = 0;
    cursor_.col = static_cast<int>(at);
    cursor_.pending_wrap = false;
    const StyleId style = cell->style;
    const bool inserting = modes_.has(Mode::Insert);
    modes_.assign(Mode::Insert, false);
    put(joined, 2);
    modes_.assign(Mode::Insert, inserting);
    Row* now = nullptr;
    if (Cell* written = previous_cell(&now); written != nullptr) written->style = style;
  } else if (cell->kind() == CellKind::Wide && code_point == 0xFE0E && clusters_.length(old) == 1) {
    // Text style asked for: one column again.
    cell->content &= ~(3u << Cell::kKindShift);
    row->cells[at + 1] = {0, cell->style};
    cursor_.col = static_cast<int>(at) + 1;
    cursor_.pending_wrap = false;
  }
  return true;
}

void Screen::REP_Repeat(P p) {
  if (last_char_ == 0) return;
  last_char_ = 0;
  Row* row = nullptr;
  const Cell* before = previous_cell(&row);  // with the marks it may have got
  if (before == nullptr || before->is_empty()) return;
  const Cell repeated = *before;
  const int width = repeated.kind() == CellKind::Wide ? 2 : 1;
  const int in_a_row = std::max(1, (right_ - left_ + 1) / width);
  // More than fills the screen twice shows nothing new but where it ends in its row; and without wrapping,
  // nothing beyond a row does.
  const int most = modes_.has(Mode::AutoWrap) ? grid_->cols() * grid_->rows() * 2 : grid_->cols();
  int n = p.get(0, 1);
  if (n > most) n = most + (n - most) % in_a_row;
  const Glyph glyph = repeated.glyph();
  if (plain_ && glyph >= 0x20 && glyph < 0x7F) {
    std::array<uint8_t, 256> run;
    run.fill(static_cast<uint8_t>(glyph));
    for (; n > 0; n -= static_cast<int>(run.size())) {
      print_ascii(run.data(), std::min(static_cast<size_t>(n), run.size()));
    }
    last_char_ = 0;
    return;
  }
  for (; n > 0; n--) put(glyph, width);
}

}  // namespace ttyward::vt
