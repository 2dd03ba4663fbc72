#include "app/screen_object.h"

#include <fmt/format.h>

#include <string_view>

namespace ttyward::app {
namespace {

std::string colour(const vt::Color& from) {
  switch (from.kind()) {
    case vt::Color::Kind::Default:
      break;
    case vt::Color::Kind::Palette:
      return std::to_string(from.index());
    case vt::Color::Kind::Rgb:
      return fmt::format("#{:06x}", from.rgb_value());
  }
  return {};
}

constexpr std::string_view kUnderlines[] = {"", "single", "double", "curly", "dotted", "dashed"};

wire::ScreenRun run_object(std::string_view text, const vt::Span& span) {
  const vt::Style& style = span.style;
  wire::ScreenRun run;
  run.text = text;
  run.cols = span.cols;
  run.fg = colour(style.foreground);
  run.bg = colour(style.background);
  run.underline = kUnderlines[static_cast<size_t>(style.underline())];
  run.underline_colour = colour(style.underline_color);
  run.bold = style.has(vt::Style::kBold);
  run.dim = style.has(vt::Style::kDim);
  run.italic = style.has(vt::Style::kItalic);
  run.blink = style.has(vt::Style::kBlink);
  run.inverse = style.has(vt::Style::kInverse);
  run.hidden = style.has(vt::Style::kHidden);
  run.strike = style.has(vt::Style::kStrike);
  run.overline = style.has(vt::Style::kOverline);
  return run;
}

}  // namespace

wire::ScreenDelta screen_object(const vt::Delta& delta) {
  const vt::Delta::Look& look = delta.look;
  wire::ScreenDelta made;
  made.sequence = delta.seq;
  made.reset = delta.reset;
  made.cols = look.cols;
  made.rows = look.rows;
  made.first_row = look.first_row;
  for (const vt::Delta::ChangedRow& changed : delta.rows) {
    wire::ScreenRow& row = made.lines.emplace_back();
    row.row = changed.row;
    for (const vt::Span& span : changed.line.spans)
      row.runs.push_back(run_object(changed.line.text_of(span), span));
  }
  made.cursor = {look.cursor.row, look.cursor.col, look.cursor_visible,
                 static_cast<wire::CursorShape>(look.cursor_shape), look.cursor_blinks};
  made.alternate = look.alternate;
  for (const vt::ModeRow& row : vt::mode_table()) {
    if (row.dec && look.modes.has(row.mode)) made.modes.push_back(row.number);
  }
  made.kitty_keyboard = look.kitty_flags;
  made.modify_other_keys = look.modify_other_keys;
  return made;
}

}  // namespace ttyward::app
