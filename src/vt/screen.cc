#include "vt/screen.h"

#include <algorithm>
#include <cmath>
#include <utility>

namespace ttyward::vt {
namespace {

// Input is taken in slices so that tables grown by one slice can be swept before the next.
constexpr size_t kSliceBytes = 64 * 1024;

int clamp_cols(int cols) {
  return std::clamp(cols, 1, Screen::kMaxCols);
}
int clamp_rows(int rows, int cols) {
  return std::clamp(rows, 1, std::min(Screen::kMaxRows, Screen::kMaxCells / clamp_cols(cols)));
}

struct Marks {
  std::vector<bool> styles;
  std::vector<bool> clusters;

  void add(const Cell* cells, size_t n) {
    for (size_t i = 0; i < n; i++) {
      styles[cells[i].style] = true;
      if (cells[i].is_cluster()) clusters[cells[i].glyph() & Cell::kContentMask] = true;
    }
  }
  void add(const Grid& grid) {
    for (int r = 0; r < grid.rows(); r++) add(grid.row(r).cells, grid.row(r).used);
  }
};

}  // namespace

Screen::Screen(const ScreenOptions& options)
    : options_(options),
      scrollback_(options.scrollback, styles_, clusters_),
      main_{Grid(clamp_rows(options.rows, options.cols), clamp_cols(options.cols)), {}, {}},
      grid_(&main_.grid),
      tabs_(clamp_cols(options.cols)) {
  reset_margins();
}

void Screen::feed(std::string_view bytes) {
  if (bytes.empty()) return;
  seq_++;
  while (!bytes.empty()) {
    if (styles_.wants_sweep() || clusters_.wants_sweep()) collect_garbage();
    const std::string_view slice = bytes.substr(0, kSliceBytes);
    parser_.feed(slice, *this);
    bytes.remove_prefix(slice.size());
  }
}

void Screen::resolve_pen() {
  pen_id_ = styles_.intern(pen_);
  pen_dirty_ = false;
}

// What erased cells get: the pen's background and nothing else.
StyleId Screen::blank_id() {
  if (pen_.background.is_default()) return 0;
  Style blank;
  blank.background = pen_.background;
  return styles_.intern(blank);
}

void Screen::touch_rows(int from, int to) {
  for (int r = from; r <= to; r++) touch(grid_->row(r));
}

void Screen::reply(std::string_view bytes) {
  if (replies_.size() + bytes.size() <= kMaxReplyBytes) replies_ += bytes;
}

void Screen::report(Event event) {
  if (events_.size() >= kMaxEvents) {
    dropped_events_++;
    return;
  }
  events_.push_back(std::move(event));
}

std::string Screen::take_replies() {
  return std::exchange(replies_, {});
}
std::vector<Event> Screen::take_events() {
  return std::exchange(events_, {});
}

void Screen::collect_garbage() {
  Marks marks{std::vector<bool>(styles_.capacity(), false), std::vector<bool>(clusters_.capacity(), false)};
  marks.add(main_.grid);
  if (alternate_) marks.add(alternate_->grid);
  if (frozen_) marks.add(frozen_->grid);
  styles_.sweep(marks.styles);
  clusters_.sweep(std::move(marks.clusters));
  scrollback_.forget_style_numbers();
  pen_dirty_ = true;
}

void Screen::collect_links() {
  std::vector<bool> used(links_.capacity(), false);
  const auto mark = [&](const Style& style) { used[style.link] = true; };
  const auto mark_grid = [&](const Grid& grid) {
    for (int r = 0; r < grid.rows(); r++) {
      const Row& row = grid.row(r);
      for (uint32_t c = 0; c < row.used; c++) mark(styles_[row.cells[c].style]);
    }
  };
  mark_grid(main_.grid);
  if (alternate_) mark_grid(alternate_->grid);
  if (frozen_) mark_grid(frozen_->grid);
  scrollback_.mark_links(used);
  mark(pen_);
  mark(main_.saved.pen);
  if (alternate_) mark(alternate_->saved.pen);
  for (const Style& style : style_stack_) mark(style);
  links_.sweep(used);
  collect_garbage();  // a style that named a freed link must not be found again by a new one
}

void Screen::freeze() {
  if (!frozen_) frozen_.emplace(Frozen{Grid(grid_->rows(), grid_->cols()), {}, true, false, 0, 0, 0});
  frozen_->grid.assign(*grid_);
  frozen_->cursor = cursor_;
  frozen_->cursor_visible = modes_.has(Mode::CursorVisible);
  frozen_->alternate = !on_main();
  frozen_->top_row = top_row_;
  frozen_->seq = seq_;
  frozen_->all_changed = all_changed_;
}

void Screen::end_synchronized_output() {
  if (!modes_.has(Mode::SynchronizedOutput)) return;
  seq_++;
  modes_.assign(Mode::SynchronizedOutput, false);
  frozen_.reset();
}

void Screen::update_plain() {
  plain_ = !modes_.has(Mode::Insert) && charset_.single_shift < 0 &&
           charset_.sets[charset_.left] == Charset::Ascii;
}

bool Screen::nothing_below_cursor() const {
  for (int r = cursor_.row; r < grid_->rows(); r++) {
    if (grid_->row(r).used > 0) return false;
  }
  return true;
}

KeyboardState Screen::keyboard() const {
  KeyboardState state;
  state.application_cursor_keys = modes_.has(Mode::ApplicationCursorKeys);
  state.application_keypad = modes_.has(Mode::ApplicationKeypad);
  state.backspace_sends_bs = modes_.has(Mode::BackspaceSendsBs);
  state.bracketed_paste = modes_.has(Mode::BracketedPaste);
  state.line_feed_new_line = modes_.has(Mode::LineFeedNewLine);
  state.modify_other_keys = modify_keys_.other_keys();
  state.kitty_flags = (on_main() ? main_ : *alternate_).kitty.current();
  return state;
}

size_t Screen::memory() const {
  const auto grid_bytes = [](const Grid& grid) {
    return static_cast<size_t>(grid.rows()) * (static_cast<size_t>(grid.cols()) * sizeof(Cell) + sizeof(Row));
  };
  return sizeof *this + grid_bytes(main_.grid) + (alternate_ ? grid_bytes(alternate_->grid) : 0) +
         scrollback_.memory() + styles_.capacity() * sizeof(Style) + clusters_.capacity() * 12;
}

}  // namespace ttyward::vt
