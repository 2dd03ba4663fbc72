// OSC 4, 5, 10, 11, 12 and 104, 105, 110, 111, 112: the palette, special and default colours.
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

// OSC 4 counts the special colours on from 256, OSC 5 from 0.
void Screen::osc_palette(int code, std::string_view data, Terminator terminator) {
  constexpr int kColors = 256;
  const auto fields = split_fields(data, ';');
  for (size_t i = 0; i + 1 < fields.size(); i += 2) {
    const std::optional<int> number = parse_number(fields[i]);
    const int index = number.value_or(-1) + (code == 5 ? kColors : 0);
    const int most = kColors + static_cast<int>(Palette::kSpecial);
    if (!number || *number < 0 || index >= most) continue;
    const bool special = index >= kColors;
    if (fields[i + 1] == "?") {
      const Rgb color =
          special ? palette_.special[static_cast<size_t>(index - kColors)].value_or(palette_.foreground)
                  : palette_.colors[static_cast<size_t>(index)];
      reply(fmt::format("\033]{};{};{}{}", code, *number, color_spec(color), ending(terminator)));
    } else if (const auto parsed = parse_color(fields[i + 1])) {
      if (special) {
        palette_.special[static_cast<size_t>(index - kColors)] = *parsed;
      } else {
        palette_.colors[static_cast<size_t>(index)] = *parsed;
        all_changed_ = seq_;
      }
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
    if (!index || *index < 0 || *index > 255) {
      if (index && *index > 255) reset_special_color(*index - 256);
      continue;
    }
    palette_.colors[static_cast<size_t>(*index)] = standard[static_cast<size_t>(*index)];
  }
}

void Screen::reset_special_color(int index) {
  if (index >= 0 && index < static_cast<int>(Palette::kSpecial))
    palette_.special[static_cast<size_t>(index)].reset();
}

void Screen::osc_reset_special(std::string_view data) {
  if (data.empty()) palette_.special = {};
  for (const std::string_view field : split_fields(data, ';')) {
    if (const auto index = parse_number(field)) reset_special_color(*index);
  }
}

void Screen::osc_reset_default_color(int code) {
  all_changed_ = seq_;
  if (code == 110) palette_.foreground = Palette::kForeground;
  if (code == 111) palette_.background = Palette::kBackground;
  if (code == 112) palette_.cursor = Palette::kForeground;
}

}  // namespace ttyward::vt
