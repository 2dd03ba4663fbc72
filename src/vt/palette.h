// The colours a palette number or a default stands for, and how programs spell colours.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "vt/style.h"

namespace ttyward::vt {

using Rgb = uint32_t;  // 0xRRGGBB

struct Palette {
  static constexpr Rgb kForeground = 0xD0D0D0;
  static constexpr Rgb kBackground = 0x101014;

  std::array<Rgb, 256> colors = standard();
  Rgb foreground = kForeground;
  Rgb background = kBackground;
  Rgb cursor = kForeground;
  // Bold, underline, blink, reverse, italic, where a program gave them colours of their own. Told, not drawn.
  static constexpr size_t kSpecial = 5;
  std::array<std::optional<Rgb>, kSpecial> special;

  static std::array<Rgb, 256> standard();
  Rgb resolve(Color color, Rgb fallback) const {
    switch (color.kind()) {
      case Color::Kind::Palette:
        return colors[color.index()];
      case Color::Kind::Rgb:
        return color.rgb_value();
      case Color::Kind::Default:
        break;
    }
    return fallback;
  }
  bool operator==(const Palette&) const = default;
};

// "#rgb", "#rrggbb", "#rrrgggbbb", "#rrrrggggbbbb", "rgb:r/g/b" with 1 to 4 digits each, and a few names.
std::optional<Rgb> parse_color(std::string_view text);
// "rgb:rrrr/gggg/bbbb", as a terminal answers.
std::string color_spec(Rgb color);
// "#rrggbb"
std::string color_hex(Rgb color);

}  // namespace ttyward::vt
