#include "dump.h"

#include <fmt/format.h>

namespace ttyward::test {
namespace {

using namespace ttyward::vt;

std::string color_text(Color color) {
  switch (color.kind()) {
    case Color::Kind::Default:
      return "-";
    case Color::Kind::Palette:
      return fmt::format("{}", color.index());
    case Color::Kind::Rgb:
      return fmt::format("#{:06x}", color.rgb_value());
  }
  return "?";
}

std::string style_text(const Screen& screen, const Style& style) {
  std::string out = fmt::format("{:x},{},{},{}", style.attributes, color_text(style.foreground),
                                color_text(style.background), color_text(style.underline_color));
  if (style.link != 0) {
    const Link& link = screen.link(style.link);
    out += fmt::format(",{}|{}", link.id, link.uri);
  }
  return out;
}

void add_line(const Screen& screen, const Line& line, std::string& out) {
  out += fmt::format("{}{:x}", line.wrapped ? "+" : "|", line.flags);
  for (const Span& span : line.spans) {
    out += fmt::format(" {}:{}[{}]({})", span.col, span.cols, escaped(line.text_of(span)),
                       style_text(screen, span.style));
  }
  out += "\n";
}

std::string trimmed(Line line) {
  std::string text = std::move(line.text);
  text.erase(text.find_last_not_of(' ') + 1);
  return text;
}

struct EventText {
  std::string operator()(const Bell&) const { return "bell"; }
  std::string operator()(const TitleChanged& e) const { return "title " + escaped(e.title); }
  std::string operator()(const CwdReported& e) const {
    return fmt::format("cwd {}|{}", escaped(e.host), escaped(e.path));
  }
  std::string operator()(const ShellMark& e) const {
    std::string out =
        fmt::format("mark {} {} {},{} {}-{}", e.protocol == ShellMark::Protocol::Osc133 ? 133 : 633,
                    escaped(e.kind), e.row, e.col, e.begin, e.end);
    for (const std::string& field : e.fields) out += " [" + escaped(field) + "]";
    for (const auto& [key, value] : e.options) out += " " + escaped(key) + "=" + escaped(value);
    if (e.exit_code) out += fmt::format(" exit {}", *e.exit_code);
    if (e.alternate) out += " alternate";
    return out;
  }
  std::string operator()(const Progress& e) const {
    return fmt::format("progress {} {}", static_cast<int>(e.state), e.percent);
  }
  std::string operator()(const Notification& e) const {
    return fmt::format("notify {}|{}", escaped(e.title), escaped(e.body));
  }
  std::string operator()(const ClipboardWrite& e) const {
    return fmt::format("clipboard {}|{}", escaped(e.selection), e.base64);
  }
  std::string operator()(const ResizeRequested& e) const {
    return fmt::format("resize {}x{}", e.cols, e.rows);
  }
};

}  // namespace

ScreenOptions sized(int cols, int rows) {
  ScreenOptions options;
  options.cols = cols;
  options.rows = rows;
  return options;
}

std::string to_text(const Event& event) {
  return std::visit(EventText{}, event);
}

std::string escaped(std::string_view bytes) {
  std::string out;
  for (const char c : bytes) {
    const auto byte = static_cast<unsigned char>(c);
    if (c == '\033') {
      out += "\\e";
    } else if (c == '\n') {
      out += "\\n";
    } else if (c == '\r') {
      out += "\\r";
    } else if (c == '\t') {
      out += "\\t";
    } else if (c == '\a') {
      out += "\\a";
    } else if (c == '\b') {
      out += "\\b";
    } else if (c == '\\') {
      out += "\\\\";
    } else if (byte < 0x20 || byte == 0x7F) {
      out += fmt::format("\\x{:02x}", byte);
    } else {
      out += c;
    }
  }
  return out;
}

std::string unescaped(std::string_view text) {
  std::string out;
  for (size_t i = 0; i < text.size(); i++) {
    if (text[i] != '\\' || i + 1 == text.size()) {
      out += text[i];
      continue;
    }
    switch (const char c = text[++i]) {
      case 'e':
        out += '\033';
        break;
      case 'n':
        out += '\n';
        break;
      case 'r':
        out += '\r';
        break;
      case 't':
        out += '\t';
        break;
      case 'a':
        out += '\a';
        break;
      case 'b':
        out += '\b';
        break;
      case 'x':
        out += static_cast<char>(std::stoi(std::string(text.substr(i + 1, 2)), nullptr, 16));
        i += 2;
        break;
      default:
        out += c;
        break;
    }
  }
  return out;
}

std::string row_text(const Screen& screen, int row) {
  return trimmed(screen.line(row));
}

std::string screen_text(const Screen& screen) {
  std::string out;
  for (int r = 0; r < screen.rows(); r++) out += row_text(screen, r) + "\n";
  out.erase(out.find_last_not_of('\n') + 1);
  return out;
}

std::string history_text(const Screen& screen) {
  std::string out;
  for (size_t i = 0; i < screen.history_size(); i++) out += trimmed(screen.history_line(i)) + "\n";
  return out;
}

std::string logical_text(const Screen& screen) {
  std::string out;
  std::string line;
  const auto add = [&](const Line& part) {
    line += part.text;
    if (part.wrapped) return;
    line.erase(line.find_last_not_of(' ') + 1);
    out += line + "\n";
    line.clear();
  };
  for (size_t i = 0; i < screen.history_size(); i++) add(screen.history_line(i));
  for (int r = 0; r < screen.rows(); r++) add(screen.line(r));
  out += line;
  out.erase(out.find_last_not_of('\n') + 1);
  return out;
}

std::string appearance(const Screen& screen) {
  std::string out;
  const Cursor cursor = screen.cursor();
  out += fmt::format("size {}x{} alternate {}\n", screen.cols(), screen.rows(), screen.is_alternate());
  out += fmt::format("cursor {},{}{} shape {} blink {} visible {}\n", cursor.row, cursor.col,
                     cursor.pending_wrap ? " pending" : "", static_cast<int>(screen.cursor_shape()),
                     screen.cursor_blinks(), screen.cursor_visible());
  const Screen::Margins margins = screen.margins();
  out += fmt::format("margins {} {} {} {}\n", margins.top, margins.bottom, margins.left, margins.right);
  out += "pen " + style_text(screen, screen.pen()) + "\nmodes";
  for (const ModeRow& row : mode_table()) {
    if (screen.modes().has(row.mode) != row.initially) out += fmt::format(" {}", row.name);
  }
  out += fmt::format("\ncharset {}", screen.active_charset());
  for (const Charset set : screen.charsets()) out += fmt::format(" {}", static_cast<int>(set));
  out += fmt::format("\ntitle {} icon {}\ntabs", escaped(screen.title()), escaped(screen.icon_title()));
  for (int c = 0; c < screen.cols(); c++) {
    if (screen.tabs().is_set(c) != (c != 0 && c % 8 == 0)) out += fmt::format(" {}", c);
  }
  const KeyboardState keyboard = screen.keyboard();
  out += fmt::format("\nkeyboard {} {}\n", keyboard.modify_other_keys, keyboard.kitty_flags);
  const Palette standard;
  if (!(screen.palette() == standard)) {
    for (const Rgb color : screen.palette().colors) out += fmt::format("{:x} ", color);
    out += fmt::format("{:x} {:x} {:x}\n", screen.palette().foreground, screen.palette().background,
                       screen.palette().cursor);
  }
  out += "rows\n";
  for (int r = 0; r < screen.rows(); r++) {
    Line line = screen.line(r);
    line.flags &= Row::kSizeFlags;
    line.trim();
    line.wrapped = false;
    add_line(screen, line, out);
  }
  return out;
}

std::string dump(Screen& screen) {
  std::string out = appearance(screen);
  out += to_text(screen.progress()) + "\nmarks";
  for (int r = 0; r < screen.rows(); r++) out += fmt::format(" {:x}", screen.line(r).flags);
  out += fmt::format("\nhistory {}\n", screen.history_size());
  for (size_t i = 0; i < screen.history_size(); i++) add_line(screen, screen.history_line(i), out);
  out += "replies " + escaped(screen.take_replies()) + "\n";
  for (const Event& event : screen.take_events()) out += to_text(event) + "\n";
  return out + fmt::format("dropped {}\n", screen.dropped_events());
}

std::string broken_invariant(const Screen& screen) {
  const Cursor cursor = screen.cursor();
  if (cursor.row < 0 || cursor.row >= screen.rows() || cursor.col < 0 || cursor.col >= screen.cols())
    return fmt::format("cursor {},{} outside {}x{}", cursor.row, cursor.col, screen.cols(), screen.rows());
  const Screen::Margins m = screen.margins();
  if (m.top < 0 || m.top > m.bottom || m.left < 0 || m.left > m.right) return "margins in disorder";
  for (int r = 0; r < screen.rows(); r++) {
    for (int c = 0; c < screen.cols(); c++) {
      const CellKind kind = screen.cell(r, c).kind();
      const bool paired = kind != CellKind::Wide ||
                          (c + 1 < screen.cols() && screen.cell(r, c + 1).kind() == CellKind::WideTail);
      const bool has_head =
          kind != CellKind::WideTail || (c > 0 && screen.cell(r, c - 1).kind() == CellKind::Wide);
      if (!paired || !has_head) return fmt::format("half a wide character at {},{}", r, c);
    }
    const Line line = screen.line(r);
    if (line.columns() > static_cast<uint32_t>(screen.cols())) return fmt::format("row {} is too long", r);
  }
  return "";
}

}  // namespace ttyward::test
