#include "cli/screen_painter.h"

#include <fmt/format.h>

#include <algorithm>
#include <string_view>
#include <utility>

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

// The part of `text` that covers `room` columns after the first `skip`. Half of a wide character, at either
// edge, is a blank.
std::string cut_columns(std::string_view text, uint32_t skip, uint32_t room) {
  std::string out;
  uint32_t at = 0;
  for (size_t i = 0; i < text.size();) {
    const size_t begin = i;
    const uint32_t width = vt::char_width(base::decode_utf8(text, i));
    const uint32_t end = at + width;
    if (at >= skip && end <= skip + room && (width > 0 || at > skip)) {
      out += text.substr(begin, i - begin);
    } else if (width > 1 && end > skip && at < skip + room) {
      out += ' ';
    }
    at = end;
  }
  return out;
}

// Moves the window no further than it has to.
int follow(int window, int size, int total, int at) {
  if (size <= 0) return 0;
  window = std::clamp(window, at - size + 1, at);
  return std::clamp(window, 0, std::max(0, total - size));
}

bool is_ascii(std::string_view text) {
  return std::all_of(text.begin(), text.end(), [](char c) { return static_cast<unsigned char>(c) < 0x80; });
}

}  // namespace

std::string row_bytes(const vt::Line& line, int from, int cols) {
  const auto first = static_cast<uint32_t>(from);
  const uint32_t last = first + static_cast<uint32_t>(cols);
  std::string out;
  bool sure = true;  // of the column: terminals differ in how wide some characters are
  vt::Style now;
  for (const vt::Span& span : line.spans) {
    const uint32_t end = span.col + span.cols;
    if (span.col >= last) break;
    if (end <= first) continue;
    const uint32_t begins = std::max(span.col, first);
    if (!sure) out += fmt::format("\033[{}G", begins - first + 1);
    if (span.style != now) out += "\033[" + vt::sgr_text(span.style, vt::ColorForm::Semicolons) + "m";
    now = span.style;
    const std::string_view text = line.text_of(span);
    const bool whole = span.col >= first && end <= last;
    out += whole ? std::string(text) : cut_columns(text, begins - span.col, std::min(end, last) - begins);
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

void ScreenPainter::apply(const wire::ScreenDelta& delta) {
  if (!screen_) screen_.emplace();
  screen_->apply(delta);
}

void ScreenPainter::forget() {
  cols_ = rows_ = 0;
  modes_ = vt::ModeSet();
  kitty_flags_ = modify_other_keys_ = 0;
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
  const bool ours = screen_ && input == Input::Ours;
  const int kitty = ours ? screen_->kitty_flags() : 0;
  const int modify = ours ? screen_->modify_other_keys() : 0;
  if (std::exchange(kitty_flags_, kitty) != kitty) out += fmt::format("\033[={};1u", kitty);
  if (std::exchange(modify_other_keys_, modify) != modify) out += fmt::format("\033[>4;{}m", modify);
  return out;
}

std::string ScreenPainter::cursor(int cols, int rows) const {
  const wire::ScreenCursor& at = screen_->cursor();
  const auto row = static_cast<int>(at.row) - top_;
  const auto col = static_cast<int>(at.col) - left_;
  if (!at.visible || row < 0 || row >= rows || col < 0 || col >= cols) return "\033[?25l";
  return fmt::format("\033[{};{}H\033[{} q\033[?25h", row + 1, col + 1,
                     static_cast<int>(at.shape) * 2 + (at.blinks ? 1 : 2));
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
  if (screen_) {
    top_ = follow(top_, height, screen_->rows(), static_cast<int>(screen_->cursor().row));
    left_ = follow(left_, cols, screen_->cols(), static_cast<int>(screen_->cursor().col));
    for (int row = 0; row < height; ++row) {
      const vt::Line& line = screen_->line(top_ + row);
      const bool full = line.columns() >= static_cast<uint32_t>(left_ + cols);
      draw(row, row_bytes(line, left_, cols), full);
    }
  }
  if (rows > 1) draw(rows - 1, "\033[7m" + pad_to(status, static_cast<size_t>(cols)) + "\033[0m", true);
  out += mode_changes(input);
  if (screen_) out += cursor(cols, height);
  return out + "\033[?2026l";
}

}  // namespace ttyward::cli
