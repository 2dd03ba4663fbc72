// Colours as they end up on a display: inverse, dim and hidden resolved against the palette.
#pragma once

#include "vt/palette.h"
#include "vt/screen.h"
#include "vt/style.h"

namespace ttyward::vt {

struct Looks {
  Rgb foreground;
  Rgb background;
  Rgb underline;
};

inline Looks looks_of(const Style& style, const Screen& screen) {
  const Palette& palette = screen.palette();
  Looks looks{palette.resolve(style.foreground, palette.foreground),
              palette.resolve(style.background, palette.background), 0};
  if (style.has(Style::kInverse) != screen.modes().has(Mode::ReverseVideo)) {
    std::swap(looks.foreground, looks.background);
  }
  if (style.has(Style::kDim)) {  // half way to the background
    const auto mix = [&](int shift) {
      return (((looks.foreground >> shift & 0xFF) + (looks.background >> shift & 0xFF)) / 2) << shift;
    };
    looks.foreground = mix(16) | mix(8) | mix(0);
  }
  if (style.has(Style::kHidden)) looks.foreground = looks.background;
  looks.underline = palette.resolve(style.underline_color, looks.foreground);
  return looks;
}

// Text with &, <, > and quotes made safe for HTML and XML; characters XML cannot hold become U+FFFD.
std::string escape_markup(std::string_view text);

}  // namespace ttyward::vt
