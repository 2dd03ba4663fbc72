#include <fmt/format.h>

#include <algorithm>

#include "engine/viewer.h"
#include "vt/sgr_text.h"

namespace ttyward::engine {
namespace {

using vt::Mode;

// Modes of the person's terminal that decide what it sends, and reverse video. The kinds of mouse tracking
// exclude each other.
constexpr Mode kForwarded[] = {
    Mode::ApplicationCursorKeys,
    Mode::ReverseVideo,
    Mode::MouseX10,
    Mode::ApplicationKeypad,
    Mode::BackspaceSendsBs,
    Mode::MousePress,
    Mode::MouseDrag,
    Mode::MouseAny,
    Mode::FocusEvents,
    Mode::MouseUtf8,
    Mode::MouseSgr,
    Mode::AlternateScroll,
    Mode::MouseUrxvt,
    Mode::MousePixels,
    Mode::BracketedPaste,
};

int number_of(Mode mode) {
  for (const vt::ModeRow& row : vt::mode_table()) {
    if (row.mode == mode) return row.number;
  }
  return 0;
}

// How it looks, without what a person's terminal must not be told.
vt::Style plain(vt::Style style) {
  style.link = 0;
  style.clear(vt::Style::kProtected);
  return style;
}

// Cells hold no control characters; should one ever, it must not act on the person's terminal.
void append_shown(std::string& out, std::string_view text) {
  for (size_t i = 0; i < text.size(); i++) {
    const auto byte = static_cast<unsigned char>(text[i]);
    const bool c1 = byte == 0xC2 && i + 1 < text.size() && static_cast<unsigned char>(text[i + 1]) < 0xA0;
    if (byte < 0x20 || byte == 0x7F || c1) {
      out += '?';
      i += c1 ? 1 : 0;
    } else {
      out += text[i];
    }
  }
}

bool is_ascii(std::string_view text) {
  return std::all_of(text.begin(), text.end(), [](char c) { return static_cast<unsigned char>(c) < 0x80; });
}

}  // namespace

Painter::Painter(int cols, int rows) : cols_(std::max(cols, 1)), rows_(std::max(rows, 1)) {}

void Painter::resize(int cols, int rows) {
  cols_ = std::max(cols, 1);
  rows_ = std::max(rows, 1);
  fresh_ = true;
}

// Moves the window no further than it has to.
void Painter::follow_cursor(const vt::Screen& screen) {
  const auto follow = [](int window, int size, int total, int at) {
    window = std::clamp(window, at - size + 1, at);
    return std::clamp(window, 0, std::max(0, total - size));
  };
  const vt::Cursor cursor = screen.cursor();
  top_ = follow(top_, rows_, screen.rows(), cursor.row);
  left_ = follow(left_, cols_, screen.cols(), cursor.col);
}

vt::Line Painter::part_of(const vt::Screen& screen, int row) const {
  vt::Line line;
  if (row + top_ >= screen.rows()) return line;
  const vt::Line whole = screen.line(row + top_);
  if (left_ == 0 && whole.columns() <= static_cast<uint32_t>(cols_)) {
    for (const vt::Span& span : whole.spans) line.add(whole.text_of(span), span.cols, plain(span.style));
    line.trim();
    return line;
  }
  const int end = std::min(screen.cols(), left_ + cols_);
  for (int c = left_; c < end; c++) {
    const vt::Cell cell = screen.cell(row + top_, c);
    const vt::Style style = plain(screen.style(cell.style));
    const bool wide = cell.kind() == vt::CellKind::Wide;
    // Half of a wide character, at either edge, is a blank.
    const bool cut = wide ? c + 1 == end : cell.kind() == vt::CellKind::WideTail && c == left_;
    if (cell.kind() == vt::CellKind::WideTail && !cut) continue;
    std::string text;
    if (!cut && !cell.is_empty()) screen.append_glyph(cell, text);
    line.add(text.empty() ? " " : text, wide && !cut ? 2 : 1, style);
  }
  line.trim();
  return line;
}

void Painter::paint_row(std::string& out, int row, const vt::Line& line) const {
  out += fmt::format("\033[{};1H", row + 1);
  bool placed = true;
  for (const vt::Span& span : line.spans) {
    // Terminals disagree about the width of some characters: the next one is put where it belongs.
    if (!placed) out += fmt::format("\033[{}G", span.col + 1);
    out += "\033[" + vt::sgr_text(span.style, vt::ColorForm::Semicolons) + "m";
    const std::string_view text = line.text_of(span);
    append_shown(out, text);
    placed = is_ascii(text);
  }
  out += "\033[0m";
  if (line.columns() < static_cast<uint32_t>(cols_)) {
    if (!placed) out += fmt::format("\033[{}G", line.columns() + 1);
    out += "\033[K";
  }
}

Painter::Modes Painter::modes_of(const vt::Screen& screen) {
  const vt::KeyboardState keyboard = screen.keyboard();
  Modes modes;
  for (const Mode mode : kForwarded) modes.set.assign(mode, screen.modes().has(mode));
  modes.kitty = keyboard.kitty_flags;
  modes.modify_other_keys = keyboard.modify_other_keys;
  return modes;
}

void Painter::change_modes(std::string& out, const Modes& to, bool all) {
  // What is reset goes first, or it would undo what is set.
  for (const bool on : {false, true}) {
    for (const Mode mode : kForwarded) {
      if (to.set.has(mode) != on || (modes_.set.has(mode) == on && !all)) continue;
      if (mode == Mode::ApplicationKeypad) {
        out += on ? "\033=" : "\033>";
      } else {
        out += fmt::format("\033[?{}{}", number_of(mode), on ? 'h' : 'l');
      }
    }
  }
  if (to.kitty != modes_.kitty || (all && kitty_pushed_)) {
    out += kitty_pushed_ ? fmt::format("\033[={};1u", to.kitty) : fmt::format("\033[>{}u", to.kitty);
    kitty_pushed_ = true;
  }
  if (to.modify_other_keys != modes_.modify_other_keys) {
    out += fmt::format("\033[>4;{}m", to.modify_other_keys);
  }
  modes_ = to;
}

Painter::Cursor Painter::cursor_of(const vt::Screen& screen) const {
  const vt::Cursor at = screen.cursor();
  Cursor cursor{std::clamp(at.row - top_, 0, rows_ - 1), std::clamp(at.col - left_, 0, cols_ - 1),
                screen.cursor_visible(), 0};
  const bool own = screen.cursor_shape() == vt::CursorShape::Block && !screen.cursor_blinks();
  if (!own) cursor.shape = static_cast<int>(screen.cursor_shape()) * 2 + (screen.cursor_blinks() ? 1 : 2);
  return cursor;
}

std::string Painter::paint(const vt::Screen& screen) {
  follow_cursor(screen);
  std::string rows;
  if (fresh_) painted_.assign(static_cast<size_t>(rows_), {});
  for (int r = 0; r < rows_; r++) {
    vt::Line line = part_of(screen, r);
    vt::Line& old = painted_[static_cast<size_t>(r)];
    if (line == old) continue;
    paint_row(rows, r, line);
    old = std::move(line);
  }
  const Modes modes = modes_of(screen);
  const Cursor cursor = cursor_of(screen);
  if (!fresh_ && rows.empty() && modes == modes_ && cursor == cursor_) return "";

  // Terminals that know synchronized output show all of it at once; the others hide the cursor meanwhile.
  std::string out = "\033[?2026h\033[?25l";
  const bool again = fresh_ && entered_;  // the first time, what it has not been told is as it should be
  if (fresh_) {
    if (!entered_) out += "\033[?1049h";
    entered_ = true;
    // No margins, origin, insertion or wrapping, ASCII, and nothing on it.
    out += "\033[r\033[?6l\033[?7l\033[4l\033(B\017\033[0m\033[H\033[2J";
  }
  out += rows;
  change_modes(out, modes, again);
  if (cursor.shape != cursor_.shape || (fresh_ && cursor.shape != 0)) {
    out += fmt::format("\033[{} q", cursor.shape);
  }
  out += fmt::format("\033[{};{}H", cursor.row + 1, cursor.col + 1);
  if (cursor.visible) out += "\033[?25h";
  out += "\033[?2026l";
  cursor_ = cursor;
  fresh_ = false;
  return out;
}

std::string Painter::leave() const {
  if (!entered_) return "";
  std::string out = "\033[0m";
  for (const Mode mode : kForwarded) {
    if (!modes_.set.has(mode)) continue;
    out += mode == Mode::ApplicationKeypad ? "\033>" : fmt::format("\033[?{}l", number_of(mode));
  }
  if (kitty_pushed_) out += "\033[<u";
  if (modes_.modify_other_keys != 0) out += "\033[>4m";
  if (cursor_.shape != 0) out += "\033[0 q";
  return out + "\033[?7h\033[?1049l\033[?25h";
}

}  // namespace ttyward::engine
