#include "vt/serialize/serialize.h"

#include "base/utf8.h"
#include "vt/serialize/looks.h"

namespace ttyward::vt {

std::optional<Format> format_named(std::string_view name) {
  if (name == "text") return Format::Text;
  if (name == "ansi") return Format::Ansi;
  if (name == "json") return Format::Json;
  if (name == "html") return Format::Html;
  if (name == "svg") return Format::Svg;
  return std::nullopt;
}

void for_each_line(const Screen& screen, WithHistory history, const std::function<void(int, Line&)>& visit) {
  if (history == WithHistory::Yes) {
    const size_t size = screen.history_size();
    for (size_t i = 0; i < size; i++) {
      Line line = screen.history_line(i);
      visit(-static_cast<int>(size - i), line);
    }
  }
  for (int r = 0; r < screen.rows(); r++) {
    Line line = screen.line(r);
    visit(r, line);
  }
}

void write_screen(const Screen& screen, Format format, WithHistory history, const Sink& sink) {
  switch (format) {
    case Format::Text:
      return write_text(screen, history, sink);
    case Format::Ansi:
      return write_ansi(screen, history, sink);
    case Format::Json:
      return write_json(screen, history, sink);
    case Format::Html:
      return write_html(screen, history, sink);
    case Format::Svg:
      return write_svg(screen, history, sink);
  }
}

std::string screen_as(const Screen& screen, Format format, WithHistory history) {
  std::string out;
  write_screen(screen, format, history, [&](std::string_view piece) { out += piece; });
  return out;
}

void write_text(const Screen& screen, WithHistory history, const Sink& sink) {
  std::string line;   // the logical line being joined
  size_t blanks = 0;  // blank lines not written yet: they may be the last ones
  const auto end_line = [&] {
    line.erase(line.find_last_not_of(' ') + 1);
    if (line.empty()) {
      blanks++;
      return;
    }
    for (; blanks > 0; blanks--) sink("\n");
    line += '\n';
    sink(line);
    line.clear();
  };
  for_each_line(screen, history, [&](int, Line& row) {
    line += row.text;
    if (!row.wrapped) end_line();
  });
  end_line();
}

std::string escape_markup(std::string_view text) {
  std::string out;
  for (size_t pos = 0; pos < text.size();) {
    const char32_t c = base::decode_utf8(text, pos);
    switch (c) {
      case '&':
        out += "&amp;";
        break;
      case '<':
        out += "&lt;";
        break;
      case '>':
        out += "&gt;";
        break;
      case '"':
        out += "&quot;";
        break;
      default:
        base::append_utf8(out, c < 0x20 || c == 0xFFFE || c == 0xFFFF ? base::kReplacementCharacter : c);
    }
  }
  return out;
}

}  // namespace ttyward::vt
