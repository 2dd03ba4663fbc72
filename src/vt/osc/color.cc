// OSC 4, 10, 11, 12 and 104, 110, 111, 112: the palette and the default colours.
//
// Programs ask for them to find out whether the background is dark; they wait
// for the answer, so there is always one, ended the way the question ended.
#include <fmt/format.h>

#include "vt/osc/fields.h"
#include "vt/screen.h"

namespace ttyward::vt {
namespace {

const char* ending(Terminator terminator) {
  return terminator == Terminator::Bel ? "\007" : "\033\\";
}

}  // namespace

void Screen::osc_palette(std::string_view data, Terminator terminator) {
  const auto fields = split_fields(data, ';');
  for (size_t i = 0; i + 1 < fields.size(); i += 2) {
    const std::optional<int> index = parse_number(fields[i]);
    if (!index || *index < 0 || *index > 255) continue;
    Rgb& color = palette_.colors[static_cast<size_t>(*index)];
    if (fields[i + 1] == "?") {
      reply(fmt::format("\033]4;{};{}{}", *index, color_spec(color), ending(terminator)));
    } else if (const auto parsed = parse_color(fields[i + 1])) {
      color = *parsed;
      all_changed_ = seq_;
    }
  }
}

// "OSC 10;a;b;c" sets three colours in a row: 10, 11 and 12.
void Screen::osc_default_color(int code, std::string_view data, Terminator terminator) {
  for (const std::string_view field : split_fields(data, ';')) {
    if (code > 12) return;
    Rgb& color = code == 10 ? palette_.foreground : code == 11 ? palette_.background : palette_.cursor;
    if (field == "?") {
      reply(fmt::format("\033]{};{}{}", code, color_spec(color), ending(terminator)));
    } else if (const auto parsed = parse_color(field)) {
      color = *parsed;
      all_changed_ = seq_;
    }
    code++;
  }
}

void Screen::osc_reset_palette(std::string_view data) {
  const std::array<Rgb, 256> standard = Palette::standard();
  all_changed_ = seq_;
  if (data.empty()) {
    palette_.colors = standard;
    return;
  }
  for (const std::string_view field : split_fields(data, ';')) {
    const std::optional<int> index = parse_number(field);
    if (!index || *index < 0 || *index > 255) continue;
    palette_.colors[static_cast<size_t>(*index)] = standard[static_cast<size_t>(*index)];
  }
}

void Screen::osc_reset_default_color(int code) {
  all_changed_ = seq_;
  if (code == 110) palette_.foreground = Palette::kForeground;
  if (code == 111) palette_.background = Palette::kBackground;
  if (code == 112) palette_.cursor = Palette::kForeground;
}

}  // namespace ttyward::vt
