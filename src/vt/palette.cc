#include "vt/palette.h"

#include <cstdio>

#include "base/hex.h"

namespace ttyward::vt {
namespace {

struct Named {
  std::string_view name;
  Rgb color;
};
constexpr Named kNames[] = {
    {"black", 0x000000}, {"red", 0xFF0000},     {"green", 0x00FF00},  {"yellow", 0xFFFF00},
    {"blue", 0x0000FF},  {"magenta", 0xFF00FF}, {"cyan", 0x00FFFF},   {"white", 0xFFFFFF},
    {"gray", 0xBEBEBE},  {"grey", 0xBEBEBE},    {"orange", 0xFFA500},
};

std::optional<unsigned> hex(std::string_view digits) {
  if (digits.empty() || digits.size() > 4) return std::nullopt;
  unsigned value = 0;
  for (const char c : digits) {
    const int digit = base::hex_digit(c);
    if (digit < 0) return std::nullopt;
    value = value << 4 | static_cast<unsigned>(digit);
  }
  return value;
}

// One component of n digits, scaled to 0..255 ("f" is full, as XParseColor has it for rgb:).
std::optional<unsigned> scaled(std::string_view digits) {
  const auto value = hex(digits);
  if (!value) return std::nullopt;
  const unsigned most = (1u << (4 * digits.size())) - 1;
  return (*value * 255 + most / 2) / most;
}

std::optional<Rgb> pack(std::optional<unsigned> r, std::optional<unsigned> g, std::optional<unsigned> b) {
  if (!r || !g || !b) return std::nullopt;
  return *r << 16 | *g << 8 | *b;
}

}  // namespace

std::array<Rgb, 256> Palette::standard() {
  std::array<Rgb, 256> colors = {0x000000, 0xCD0000, 0x00CD00, 0xCDCD00, 0x0000EE, 0xCD00CD,
                                 0x00CDCD, 0xE5E5E5, 0x7F7F7F, 0xFF0000, 0x00FF00, 0xFFFF00,
                                 0x5C5CFF, 0xFF00FF, 0x00FFFF, 0xFFFFFF};
  const auto level = [](unsigned i) { return i == 0 ? 0u : 55 + 40 * i; };
  for (unsigned i = 0; i < 216; i++) {
    colors[16 + i] = level(i / 36) << 16 | level(i / 6 % 6) << 8 | level(i % 6);
  }
  for (unsigned i = 0; i < 24; i++) colors[232 + i] = (8 + 10 * i) * 0x010101;
  return colors;
}

std::optional<Rgb> parse_color(std::string_view text) {
  if (text.starts_with("rgb:")) {
    text.remove_prefix(4);
    const size_t first = text.find('/');
    const size_t second = first == std::string_view::npos ? first : text.find('/', first + 1);
    if (second == std::string_view::npos) return std::nullopt;
    return pack(scaled(text.substr(0, first)), scaled(text.substr(first + 1, second - first - 1)),
                scaled(text.substr(second + 1)));
  }
  if (text.starts_with('#')) {
    text.remove_prefix(1);
    if (text.empty() || text.size() % 3 != 0 || text.size() > 12) return std::nullopt;
    const size_t n = text.size() / 3;
    // Here the digits are the most significant ones, as X has it: "#f00" is 0xF0, not 0xFF.
    const auto part = [&](size_t i) -> std::optional<unsigned> {
      const auto value = hex(text.substr(i * n, n));
      if (!value) return std::nullopt;
      return n == 1 ? *value << 4 : *value >> (4 * (n - 2));
    };
    return pack(part(0), part(1), part(2));
  }
  for (const Named& named : kNames) {
    if (named.name == text) return named.color;
  }
  return std::nullopt;
}

std::string color_spec(Rgb color) {
  char text[32];
  const unsigned r = color >> 16 & 0xFF;
  const unsigned g = color >> 8 & 0xFF;
  const unsigned b = color & 0xFF;
  std::snprintf(text, sizeof text, "rgb:%04x/%04x/%04x", r * 0x101, g * 0x101, b * 0x101);
  return text;
}

std::string color_hex(Rgb color) {
  char text[16];
  std::snprintf(text, sizeof text, "#%06x", color & 0xFFFFFFu);
  return text;
}

}  // namespace ttyward::vt
