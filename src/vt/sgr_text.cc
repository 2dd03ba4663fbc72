#include "vt/sgr_text.h"

#include <fmt/format.h>

namespace ttyward::vt {
namespace {

// ";38:5:n" or ";38:2::r:g:b", or the same with semicolons and without the empty colour space.
std::string extended(Color color, int code, ColorForm form) {
  const bool colons = form == ColorForm::Colons;
  if (color.kind() == Color::Kind::Palette)
    return fmt::format(fmt::runtime(colons ? ";{}:5:{}" : ";{};5;{}"), code, color.index());
  const uint32_t rgb = color.rgb_value();
  return fmt::format(fmt::runtime(colons ? ";{}:2::{}:{}:{}" : ";{};2;{};{};{}"), code, rgb >> 16 & 0xFF,
                     rgb >> 8 & 0xFF, rgb & 0xFF);
}

// `first` is the code of colour 0: 30 or 40. Bright ones are 60 further on, extended ones are 8.
std::string color_text(Color color, int first, ColorForm form) {
  if (color.is_default()) return "";
  if (color.kind() == Color::Kind::Palette && color.index() < 16)
    return fmt::format(";{}", color.index() < 8 ? first + color.index() : first + 60 + color.index() - 8);
  return extended(color, first + 8, form);
}

}  // namespace

std::string sgr_text(const Style& style, ColorForm form) {
  std::string out = "0";
  const auto add = [&](uint16_t attribute, const char* code) {
    if (style.has(attribute)) out += code;
  };
  add(Style::kBold, ";1");
  add(Style::kDim, ";2");
  add(Style::kItalic, ";3");
  if (style.underline() == Underline::Single) out += ";4";
  if (style.underline() > Underline::Single) out += fmt::format(";4:{}", static_cast<int>(style.underline()));
  add(Style::kBlink, ";5");
  add(Style::kInverse, ";7");
  add(Style::kHidden, ";8");
  add(Style::kStrike, ";9");
  add(Style::kOverline, ";53");
  out += color_text(style.foreground, 30, form);
  out += color_text(style.background, 40, form);
  // 58 has no short forms, and is new enough that whoever knows it knows colons.
  if (!style.underline_color.is_default()) out += extended(style.underline_color, 58, ColorForm::Colons);
  return out;
}

}  // namespace ttyward::vt
