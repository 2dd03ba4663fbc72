// A picture of the screen: a window with a title bar, text placed column by column.
//
// Every span is stretched to its columns with textLength, so that the grid holds
// whatever monospace font the viewer has.
#include <fmt/format.h>

#include "vt/serialize/looks.h"
#include "vt/serialize/serialize.h"

namespace ttyward::vt {
namespace {

constexpr double kCellWidth = 8.4;
constexpr double kCellHeight = 18;
constexpr double kPadding = 14;
constexpr double kTitleBar = 34;
constexpr double kBaseline = 13.5;  // within a cell

std::string rect(double x, double y, double width, double height, Rgb fill) {
  return fmt::format("<rect x=\"{:.1f}\" y=\"{:.1f}\" width=\"{:.1f}\" height=\"{:.1f}\" fill=\"{}\"/>\n", x,
                     y, width, height, color_hex(fill));
}

std::string decoration(const Style& style, const Looks& looks, double x, double top, double width) {
  std::string out;
  const auto stroke = [&](double y, Rgb color, const char* extra) {
    out += fmt::format("<path d=\"M{:.1f} {:.1f}h{:.1f}\" stroke=\"{}\" fill=\"none\"{}/>\n", x, y, width,
                       color_hex(color), extra);
  };
  const double under = top + kBaseline + 2;
  switch (style.underline()) {
    case Underline::None:
      break;
    case Underline::Single:
      stroke(under, looks.underline, "");
      break;
    case Underline::Double:
      stroke(under, looks.underline, "");
      stroke(under + 2, looks.underline, "");
      break;
    case Underline::Curly: {
      std::string wave = fmt::format("<path d=\"M{:.1f} {:.1f}", x, under + 1);
      for (double at = 0; at + 4 <= width; at += 4) wave += "q1 -2.5 2 0t2 0";
      out += wave + fmt::format("\" stroke=\"{}\" fill=\"none\"/>\n", color_hex(looks.underline));
      break;
    }
    case Underline::Dotted:
      stroke(under, looks.underline, " stroke-dasharray=\"1 2\"");
      break;
    case Underline::Dashed:
      stroke(under, looks.underline, " stroke-dasharray=\"4 2\"");
      break;
  }
  if (style.has(Style::kStrike)) stroke(top + kBaseline - 4.5, looks.foreground, "");
  if (style.has(Style::kOverline)) stroke(top + 1, looks.foreground, "");
  return out;
}

bool is_blank(std::string_view text) {
  return text.find_first_not_of(' ') == std::string_view::npos;
}

}  // namespace

void write_svg(const Screen& screen, WithHistory history, const Sink& sink) {
  const bool scrolled = history == WithHistory::Yes && !screen.is_alternate();
  const size_t above = scrolled ? screen.history_size() : 0;
  const double width = screen.cols() * kCellWidth + 2 * kPadding;
  const double height =
      static_cast<double>(above + static_cast<size_t>(screen.rows())) * kCellHeight + kTitleBar + kPadding;
  const Looks plain = looks_of(Style{}, screen);
  sink(
      fmt::format("<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{0:.0f}\" height=\"{1:.0f}\" "
                  "viewBox=\"0 0 {0:.1f} {1:.1f}\">\n"
                  "<rect width=\"100%\" height=\"100%\" rx=\"9\" fill=\"{2}\"/>\n"
                  "<path d=\"M0 {3:.1f}h{0:.1f}\" stroke=\"#ffffff\" stroke-opacity=\"0.08\"/>\n"
                  "<circle cx=\"20\" cy=\"17\" r=\"6\" fill=\"#ff5f57\"/><circle cx=\"40\" cy=\"17\" r=\"6\" "
                  "fill=\"#febc2e\"/>"
                  "<circle cx=\"60\" cy=\"17\" r=\"6\" fill=\"#28c840\"/>\n",
                  width, height, color_hex(plain.background), kTitleBar - 6));
  if (!screen.title().empty()) {
    sink(fmt::format(
        "<text x=\"{:.1f}\" y=\"21\" text-anchor=\"middle\" font-family=\"sans-serif\" font-size=\"12\" "
        "fill=\"{}\" fill-opacity=\"0.7\">{}</text>\n",
        width / 2, color_hex(plain.foreground), escape_markup(screen.title())));
  }
  sink(
      "<g font-family=\"ui-monospace,'DejaVu Sans Mono',Menlo,Consolas,monospace\" font-size=\"14\" "
      "xml:space=\"preserve\">\n");
  const auto top_of = [&](int row) {
    return kTitleBar + static_cast<double>(row + static_cast<int>(above)) * kCellHeight;
  };
  for_each_line(screen, scrolled ? WithHistory::Yes : WithHistory::No, [&](int row, Line& line) {
    line.trim();
    const double top = top_of(row);
    std::string out;
    for (const Span& span : line.spans) {  // backgrounds first, so that no glyph is cut
      const Looks looks = looks_of(span.style, screen);
      if (looks.background == plain.background) continue;
      out +=
          rect(kPadding + span.col * kCellWidth, top, span.cols * kCellWidth, kCellHeight, looks.background);
    }
    for (const Span& span : line.spans) {
      const Looks looks = looks_of(span.style, screen);
      const double x = kPadding + span.col * kCellWidth;
      const double length = span.cols * kCellWidth;
      if (!is_blank(line.text_of(span))) {
        out += fmt::format(
            "<text x=\"{:.1f}\" y=\"{:.1f}\" textLength=\"{:.1f}\" lengthAdjust=\"spacingAndGlyphs\" "
            "fill=\"{}\"{}{}>{}</text>\n",
            x, top + kBaseline, length, color_hex(looks.foreground),
            span.style.has(Style::kBold) ? " font-weight=\"bold\"" : "",
            span.style.has(Style::kItalic) ? " font-style=\"italic\"" : "",
            escape_markup(line.text_of(span)));
      }
      out += decoration(span.style, looks, x, top, length);
    }
    sink(out);
  });
  if (screen.cursor_visible()) {
    const Cursor cursor = screen.cursor();
    const double x = kPadding + cursor.col * kCellWidth;
    const double y = top_of(cursor.row);
    const Rgb color = screen.palette().cursor;
    switch (screen.cursor_shape()) {
      case CursorShape::Block:
        sink(
            fmt::format("<rect x=\"{:.1f}\" y=\"{:.1f}\" width=\"{:.1f}\" height=\"{:.1f}\" fill=\"{}\" "
                        "fill-opacity=\"0.6\"/>\n",
                        x, y, kCellWidth, kCellHeight, color_hex(color)));
        break;
      case CursorShape::Underline:
        sink(rect(x, y + kCellHeight - 2, kCellWidth, 2, color));
        break;
      case CursorShape::Bar:
        sink(rect(x, y, 2, kCellHeight, color));
        break;
    }
  }
  sink("</g>\n</svg>\n");
}

}  // namespace ttyward::vt
