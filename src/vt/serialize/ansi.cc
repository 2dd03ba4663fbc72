// The screen as the bytes that make it.
//
// Order matters: contents first, on a clean screen with default margins; then
// tab stops, margins and modes (several of which home the cursor), then the
// cursor, then the pen. Rows joined by a soft wrap are printed through, so that
// the other terminal wraps them too.
#include <fmt/format.h>

#include <algorithm>
#include <string>

#include "base/utf8.h"
#include "vt/serialize/serialize.h"
#include "vt/sgr_text.h"
#include "vt/width.h"

namespace ttyward::vt {
namespace {

// From whatever was before to this style.
class Pen {
 public:
  explicit Pen(const Screen& screen) : screen_(screen) {}

  std::string change_to(const Style& style) {
    if (style == now_) return "";
    std::string out;
    if (style.link != now_.link) {
      const Link& link = screen_.link(style.link);
      out += fmt::format("\033]8;{}{};{}\033\\", link.id.empty() ? "" : "id=", link.id, link.uri);
    }
    if (style.has(Style::kProtected) != now_.has(Style::kProtected)) {
      out += style.has(Style::kProtected) ? "\033[1\"q" : "\033[0\"q";
    }
    Style a = style;
    Style b = now_;
    a.link = b.link = 0;
    a.clear(Style::kProtected);
    b.clear(Style::kProtected);
    if (a != b) out += "\033[" + sgr_text(a, ColorForm::Semicolons) + "m";
    now_ = style;
    return out;
  }

 private:
  const Screen& screen_;
  Style now_;
};

const char* row_size(uint16_t flags) {
  if ((flags & Row::kDoubleTop) != 0) return "\033#3";
  if ((flags & Row::kDoubleBottom) != 0) return "\033#4";
  return (flags & Row::kDoubleWidth) != 0 ? "\033#6" : "";
}

std::string palette_changes(const Palette& palette) {
  std::string out;
  const Palette standard;
  for (size_t i = 0; i < palette.colors.size(); i++) {
    if (palette.colors[i] != standard.colors[i])
      out += fmt::format("\033]4;{};{}\033\\", i, color_spec(palette.colors[i]));
  }
  if (palette.foreground != standard.foreground)
    out += fmt::format("\033]10;{}\033\\", color_spec(palette.foreground));
  if (palette.background != standard.background)
    out += fmt::format("\033]11;{}\033\\", color_spec(palette.background));
  if (palette.cursor != standard.cursor) out += fmt::format("\033]12;{}\033\\", color_spec(palette.cursor));
  return out;
}

// Modes that are reproduced some other way, or that would disturb what is drawn.
bool is_left_out(Mode mode) {
  switch (mode) {
    case Mode::Columns132:
    case Mode::AlternateScreen47:
    case Mode::AlternateScreen1047:
    case Mode::AlternateScreen1049:
    case Mode::SavedCursor1048:
    case Mode::LeftRightMargins:
    case Mode::Origin:
    case Mode::SynchronizedOutput:
      return true;
    default:
      return false;
  }
}

std::string mode_changes(const ModeSet& modes) {
  std::string out;
  const ModeSet initial = ModeSet::initial();
  // The kinds of mouse tracking exclude each other: what is reset goes first, or it would undo what is set.
  for (const bool on : {false, true}) {
    for (const ModeRow& row : mode_table()) {
      if (is_left_out(row.mode) || modes.has(row.mode) != on || modes.has(row.mode) == initial.has(row.mode))
        continue;
      out += fmt::format("\033[{}{}{}", row.dec ? "?" : "", row.number, on ? 'h' : 'l');
    }
  }
  return out;
}

std::string tab_changes(const Screen& screen) {
  if (screen.tabs() == TabStops(screen.cols())) return "";
  std::string out = "\033[3g";
  for (int c = 0; c < screen.cols(); c++) {
    if (screen.tabs().is_set(c)) out += fmt::format("\033[{}G\033H", c + 1);
  }
  return out;
}

std::string margin_changes(const Screen& screen) {
  const Screen::Margins m = screen.margins();
  std::string out;
  if (screen.modes().has(Mode::LeftRightMargins)) out += "\033[?69h";
  if (m.top != 0 || m.bottom != screen.rows() - 1) out += fmt::format("\033[{};{}r", m.top + 1, m.bottom + 1);
  if (m.left != 0 || m.right != screen.cols() - 1) out += fmt::format("\033[{};{}s", m.left + 1, m.right + 1);
  return out;
}

const char* designation(Charset set) {
  switch (set) {
    case Charset::DecGraphics:
      return "0";
    case Charset::British:
      return "A";
    case Charset::Dutch:
      return "4";
    case Charset::Finnish:
      return "C";
    case Charset::French:
      return "R";
    case Charset::FrenchCanadian:
      return "Q";
    case Charset::German:
      return "K";
    case Charset::Italian:
      return "Y";
    case Charset::NorwegianDanish:
      return "E";
    case Charset::Spanish:
      return "Z";
    case Charset::Swedish:
      return "H";
    case Charset::Swiss:
      return "=";
    case Charset::DecSupplemental:
      return "<";
    case Charset::DecTechnical:
      return ">";
    case Charset::Ascii:
    case Charset::Latin1:
      break;
  }
  return "B";
}

std::string charset_changes(const Screen& screen) {
  std::string out;
  constexpr char kSlots[] = {'(', ')', '*', '+'};
  for (unsigned i = 0; i < 4; i++) {
    const Charset set = screen.charsets()[i];
    if (set == Charset::Latin1 && i > 0) {
      out += fmt::format("\033{}A", "?-./"[i]);
    } else if (set != Charset::Ascii) {
      out += fmt::format("\033{}{}", kSlots[i], designation(set));
    }
  }
  constexpr const char* kShifts[] = {"", "\016", "\033n", "\033o"};
  return out + kShifts[screen.active_charset()];
}

bool starts_wide(const Line& line) {
  size_t at = 0;
  return char_width(base::decode_utf8(line.text, at)) == 2;
}

}  // namespace

void write_ansi(const Screen& screen, WithHistory history, const Sink& sink) {
  Pen pen(screen);
  const bool on_alternate = screen.is_alternate();
  sink(on_alternate ? "\033[?1049h\033[0m\033[H\033[2J" : "\033[0m\033[H\033[2J");
  if (screen.modes().has(Mode::GraphemeClusters)) sink("\033[?2027h");
  sink(palette_changes(screen.palette()));
  if (!screen.title().empty()) sink("\033]2;" + screen.title() + "\033\\");

  bool continued = false;  // the row before was printed through to this one
  uint32_t missing = 0;    // columns it was short of the edge
  const bool scrolls = history == WithHistory::Yes && !on_alternate;
  bool first = true;
  for_each_line(screen, on_alternate ? WithHistory::No : history, [&](int row, Line& line) {
    if (!line.wrapped) line.trim();
    if (continued && line.spans.empty()) line.add(" ", 1, Style{});  // one blank carries the wrap
    std::string out;
    if (continued && missing > 0) {
      // Only a wide character wraps by itself before the edge.
      const bool wraps = missing == 1 && starts_wide(line);
      if (!wraps) out += pen.change_to(Style{}) + std::string(missing, ' ');
    }
    if (!continued) {
      if (scrolls) {
        // The pen's background must not colour the row that scrolling brings in.
        if (!first) out += pen.change_to(Style{}) + "\r\n";
      } else if (!line.spans.empty() || line.wrapped || row_size(line.flags)[0] != '\0') {
        out += fmt::format("\033[{};1H", row + 1);
      }
    }
    // The row before wraps into an empty one: a character makes it so, and is taken away again.
    if (continued && line.spans.empty()) out += pen.change_to(Style{}) + " \b\033[X";
    first = false;
    out += row_size(line.flags);
    for (const Span& span : line.spans) {
      out += pen.change_to(span.style);
      out += line.text_of(span);
    }
    continued = line.wrapped && row != screen.rows() - 1;
    const auto width = static_cast<uint32_t>(screen.cols() / ((line.flags & Row::kDoubleWidth) != 0 ? 2 : 1));
    missing = width - std::min(width, line.columns());
    sink(out);
  });

  std::string out = pen.change_to(Style{});
  out += tab_changes(screen);
  out += margin_changes(screen);
  const Cursor cursor = screen.cursor();
  const bool origin = screen.modes().has(Mode::Origin);
  const Screen::Margins margins = screen.margins();
  const auto go = [&](int row, int col) {
    return fmt::format("\033[{};{}H", row + 1 - (origin ? margins.top : 0),
                       col + 1 - (origin ? margins.left : 0));
  };
  if (origin) out += "\033[?6h";
  if (cursor.pending_wrap) {
    // Printing the last character again brings back the wrap that is pending.
    int col = cursor.col;
    if (screen.cell(cursor.row, col).kind() == CellKind::WideTail && col > 0) col--;
    const Cell cell = screen.cell(cursor.row, col);
    std::string text = " ";
    if (!cell.is_empty()) {
      text.clear();
      screen.append_glyph(cell, text);
    }
    out += go(cursor.row, col) + pen.change_to(screen.style(cell.style)) + text;
  } else {
    out += go(cursor.row, cursor.col);
  }
  out += mode_changes(screen.modes());
  out += charset_changes(screen);
  const KeyboardState keyboard = screen.keyboard();
  if (keyboard.kitty_flags != 0) out += fmt::format("\033[={};1u", keyboard.kitty_flags);
  if (keyboard.modify_other_keys != 0) out += fmt::format("\033[>4;{}m", keyboard.modify_other_keys);
  if (screen.cursor_shape() != CursorShape::Block || screen.cursor_blinks()) {
    out += fmt::format("\033[{} q",
                       static_cast<int>(screen.cursor_shape()) * 2 + (screen.cursor_blinks() ? 1 : 2));
  }
  out += pen.change_to(screen.pen());
  sink(out);
}

}  // namespace ttyward::vt
