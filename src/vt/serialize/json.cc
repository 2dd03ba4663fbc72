// {"cols":…, "rows":…, "cursor":{…}, "alternate":…, "title":…, "modes":{…}, "lines":[{"row":…, "wrapped":…,
// "segments":[…]}]}
//
// A segment always has text, bold, dim, italic, underline, inverse, foreground
// and background (a colour as "#rrggbb", null for the default one); rarer
// attributes appear only where they are set.
#include <fmt/format.h>

#include "base/json_text.h"
#include "vt/serialize/serialize.h"

namespace ttyward::vt {
namespace {

using base::json_quoted;

const char* boolean(bool value) {
  return value ? "true" : "false";
}

std::string color_json(Color color, const Palette& palette) {
  return color.is_default() ? "null" : "\"" + color_hex(palette.resolve(color, 0)) + "\"";
}

const char* underline_name(Underline underline) {
  switch (underline) {
    case Underline::None:
      return "none";
    case Underline::Single:
      return "single";
    case Underline::Double:
      return "double";
    case Underline::Curly:
      return "curly";
    case Underline::Dotted:
      return "dotted";
    case Underline::Dashed:
      return "dashed";
  }
  return "none";
}

const char* shape_name(CursorShape shape) {
  switch (shape) {
    case CursorShape::Block:
      return "block";
    case CursorShape::Underline:
      return "underline";
    case CursorShape::Bar:
      return "bar";
  }
  return "block";
}

std::string segment_json(const Screen& screen, const Line& line, const Span& span) {
  const Style& style = span.style;
  const Palette& palette = screen.palette();
  std::string out = fmt::format(
      R"({{"text":{},"bold":{},"dim":{},"italic":{},"underline":{},"inverse":{},"foreground":{},"background":{})",
      json_quoted(line.text_of(span)), boolean(style.has(Style::kBold)), boolean(style.has(Style::kDim)),
      boolean(style.has(Style::kItalic)), boolean(style.underline() != Underline::None),
      boolean(style.has(Style::kInverse)), color_json(style.foreground, palette),
      color_json(style.background, palette));
  const auto flag = [&](uint16_t attribute, const char* name) {
    if (style.has(attribute)) out += fmt::format(",\"{}\":true", name);
  };
  flag(Style::kBlink, "blink");
  flag(Style::kHidden, "hidden");
  flag(Style::kStrike, "strikethrough");
  flag(Style::kOverline, "overline");
  flag(Style::kProtected, "protected");
  if (style.underline() > Underline::Single) {
    out += fmt::format(",\"underline_style\":\"{}\"", underline_name(style.underline()));
  }
  if (!style.underline_color.is_default()) {
    out += ",\"underline_color\":" + color_json(style.underline_color, palette);
  }
  if (style.link != 0) out += ",\"link\":" + json_quoted(screen.link(style.link).uri);
  return out + "}";
}

}  // namespace

void write_json(const Screen& screen, WithHistory history, const Sink& sink) {
  const Cursor cursor = screen.cursor();
  sink(fmt::format(
      R"({{"cols":{},"rows":{},"cursor":{{"row":{},"col":{},"visible":{},"shape":"{}","blink":{},"pending_wrap":{}}},"alternate":{},"title":{},"modes":{{)",
      screen.cols(), screen.rows(), cursor.row, cursor.col, boolean(screen.cursor_visible()),
      shape_name(screen.cursor_shape()), boolean(screen.cursor_blinks()), boolean(cursor.pending_wrap),
      boolean(screen.is_alternate()), json_quoted(screen.title())));
  const char* comma = "";
  for (const ModeRow& mode : mode_table()) {
    sink(fmt::format("{}\"{}\":{}", comma, mode.name, boolean(screen.modes().has(mode.mode))));
    comma = ",";
  }
  sink("},\"lines\":[");
  comma = "";
  for_each_line(screen, history, [&](int row, Line& line) {
    if (!line.wrapped) line.trim();
    std::string out =
        fmt::format("{}\n{{\"row\":{},\"wrapped\":{},\"segments\":[", comma, row, boolean(line.wrapped));
    for (size_t i = 0; i < line.spans.size(); i++) {
      if (i > 0) out += ',';
      out += segment_json(screen, line, line.spans[i]);
    }
    out += "]}";
    sink(out);
    comma = ",";
  });
  sink("\n]}\n");
}

}  // namespace ttyward::vt
