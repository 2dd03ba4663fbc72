#include "cli/screen_painter.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>
#include <variant>

#include "base/utf8.h"
#include "cli/shown_text.h"
#include "vt/sgr_text.h"
#include "vt/width.h"

namespace ttyward::cli {
namespace {

using vt::Mode;

constexpr Mode kPassedOn[] = {Mode::ApplicationCursorKeys,
                              Mode::ApplicationKeypad,
                              Mode::MouseX10,
                              Mode::MousePress,
                              Mode::MouseDrag,
                              Mode::MouseAny,
                              Mode::FocusEvents,
                              Mode::MouseUtf8,
                              Mode::MouseSgr,
                              Mode::MouseUrxvt,
                              Mode::BracketedPaste};

// What fits into `room` columns.
std::string_view cut_columns(std::string_view text, uint32_t room) {
  size_t at = 0;
  while (at < text.size()) {
    size_t next = at;
    const uint32_t width = vt::char_width(base::decode_utf8(text, next));
    if (width > room) break;
    room -= width;
    at = next;
  }
  return text.substr(0, at);
}

bool is_ascii(std::string_view text) {
  return std::all_of(text.begin(), text.end(), [](char c) { return static_cast<unsigned char>(c) < 0x80; });
}

}  // namespace

std::string row_bytes(const vt::Line& line, int cols) {
  const auto width = static_cast<uint32_t>(cols);
  std::string out;
  bool sure = true;  // of the column: terminals differ in how wide some characters are
  vt::Style now;
  for (const vt::Span& span : line.spans) {
    if (span.col >= width) break;
    vt::Style style = span.style;
    style.link = 0;
    style.clear(vt::Style::kProtected);
    if (!sure) out += fmt::format("\033[{}G", span.col + 1);
    if (style != now) out += "\033[" + vt::sgr_text(style, vt::ColorForm::Semicolons) + "m";
    now = style;
    const std::string_view text = line.text_of(span);
    out += span.col + span.cols <= width ? text : cut_columns(text, width - span.col);
    sure = is_ascii(text);
  }
  if (now != vt::Style{}) out += "\033[0m";
  return out;
}

std::string ScreenPainter::enter() {
  return "\033[22;0t\033[?1049h\033[0m\033[?7l\033[2J\033[H";
}

std::string ScreenPainter::leave() {
  std::string out = "\033[?2026l\033[=0;1u\033[>4m";
  for (const Mode mode : kPassedOn) {
    for (const vt::ModeRow& row : vt::mode_table())
      if (row.mode == mode) out += fmt::format("\033[?{}l", row.number);
  }
  return out + "\033>\033[0m\033[0 q\033[?25h\033[?7h\033[2J\033[?1049l\033[23;0t";
}

void ScreenPainter::reset(int cols, int rows, std::string_view ansi) {
  vt::ScreenOptions options;
  options.cols = cols;
  options.rows = rows;
  options.scrollback.lines = 0;
  screen_ = std::make_unique<vt::Screen>(options);
  screen_->feed(ansi);
  static_cast<void>(screen_->take_replies());
  static_cast<void>(screen_->take_events());  // a bell from before is no news
}

void ScreenPainter::resize(int cols, int rows) {
  if (screen_) screen_->resize(cols, rows);
}

void ScreenPainter::feed(std::string_view ansi) {
  if (!screen_) return;
  screen_->feed(ansi);
  static_cast<void>(screen_->take_replies());  // the daemon answers what programs ask
  for (const vt::Event& event : screen_->take_events()) bell_ |= std::holds_alternative<vt::Bell>(event);
}

void ScreenPainter::forget() {
  cols_ = rows_ = 0;
  modes_ = vt::ModeSet();
  keyboard_ = {};
  title_.clear();
}

std::string ScreenPainter::mode_changes(Input input) {
  std::string out;
  const vt::ModeSet wanted = screen_ && input == Input::Ours ? screen_->modes() : vt::ModeSet();
  // The kinds of mouse tracking exclude each other: what is reset goes first, or it would undo what is set.
  for (const bool on : {false, true}) {
    for (const vt::ModeRow& row : vt::mode_table()) {
      const bool passed =
          std::find(std::begin(kPassedOn), std::end(kPassedOn), row.mode) != std::end(kPassedOn);
      if (!passed || wanted.has(row.mode) != on || modes_.has(row.mode) == on) continue;
      out += fmt::format("\033[?{}{}", row.number, on ? 'h' : 'l');
    }
  }
  for (const Mode mode : kPassedOn) modes_.assign(mode, wanted.has(mode));
  const vt::KeyboardState keyboard =
      screen_ && input == Input::Ours ? screen_->keyboard() : vt::KeyboardState();
  if (keyboard.kitty_flags != keyboard_.kitty_flags) out += fmt::format("\033[={};1u", keyboard.kitty_flags);
  if (keyboard.modify_other_keys != keyboard_.modify_other_keys)
    out += fmt::format("\033[>4;{}m", keyboard.modify_other_keys);
  keyboard_ = keyboard;
  return out;
}

std::string ScreenPainter::cursor(int cols, int rows, int top) const {
  const vt::Cursor at = screen_->cursor();
  const int row = at.row - top;
  if (!screen_->cursor_visible() || row < 0 || row >= rows || at.col >= cols) return "\033[?25l";
  return fmt::format("\033[{};{}H\033[{} q\033[?25h", row + 1, at.col + 1,
                     static_cast<int>(screen_->cursor_shape()) * 2 + (screen_->cursor_blinks() ? 1 : 2));
}

std::string ScreenPainter::paint(int cols, int rows, const std::string& status, Input input) {
  std::string out = "\033[?2026h\033[?25l";
  if (cols != cols_ || rows != rows_) {
    out += "\033[0m\033[2J";
    shown_.assign(static_cast<size_t>(std::max(rows, 1)), std::string());
    cols_ = cols;
    rows_ = rows;
  }
  const auto draw = [&](int row, std::string bytes, bool full) {
    std::string& shown = shown_[static_cast<size_t>(row)];
    if (shown == bytes) return;
    out += fmt::format("\033[{};1H{}{}", row + 1, bytes, full ? "" : "\033[K");
    shown = std::move(bytes);
  };
  const int height = std::max(rows - 1, 0);  // the last row is ours
  int top = 0;
  if (screen_) {
    // Where not all of it fits, the part with the cursor is shown.
    const int cursor_row = screen_->cursor().row;
    top = std::clamp(cursor_row - height + 1, 0, std::max(screen_->rows() - height, 0));
    for (int row = 0; row < height; ++row) {
      if (top + row >= screen_->rows()) {
        draw(row, "", false);
        continue;
      }
      vt::Line line = screen_->line(top + row);
      line.trim();
      const bool full = line.columns() >= static_cast<uint32_t>(cols);
      draw(row, row_bytes(line, cols), full);
    }
    if (screen_->title() != title_) {
      title_ = screen_->title();
      out += fmt::format("\033]2;{}\033\\", one_line(title_));
    }
  }
  if (rows > 1) draw(rows - 1, "\033[7m" + pad_to(status, static_cast<size_t>(cols)) + "\033[0m", true);
  out += mode_changes(input);
  if (screen_) out += cursor(cols, height, top);
  if (std::exchange(bell_, false)) out += '\a';
  return out + "\033[?2026l";
}

}  // namespace ttyward::cli
