// A recording as pictures: what each row of the screen showed, from when on. For players without an emulator.
#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "record/recording.h"
#include "vt/palette.h"

namespace ttyward::record {

struct Film {
  // How a piece of text looks; colours are those of the display.
  struct Look {
    vt::Rgb foreground = 0;
    vt::Rgb background = 0;
    bool bold = false;
    bool italic = false;
    bool underline = false;
    bool strike = false;
    bool operator==(const Look&) const = default;
  };
  struct Run {
    uint32_t col = 0;
    uint32_t cols = 0;
    uint32_t look = 0;  // in looks
    std::string text;
  };
  using Line = std::vector<Run>;
  struct Frame {
    uint64_t at_us = 0;
    Size size;
    std::vector<std::pair<int, uint32_t>> rows;  // those that changed, and what they show: a line of lines
    bool cursor = false;
    int cursor_row = 0;
    int cursor_col = 0;
  };
  struct Marker {
    uint64_t at_us = 0;
    std::string label;
  };

  Size largest;
  uint64_t duration_us = 0;
  vt::Rgb foreground = 0;
  vt::Rgb background = 0;
  std::vector<Look> looks;
  std::vector<Line> lines;  // each once; the first is empty
  std::vector<Frame> frames;
  std::vector<Marker> markers;
};

struct FilmLimits {
  uint64_t interval_us = 33'000;  // between two frames
  size_t frames = 20'000;
  size_t bytes = size_t{32} << 20;  // of text and changes, about
};

// Where the limits are too small, there are fewer frames; the first and the last one are always there.
Film make_film(const Recording& recording, const FilmLimits& limits);

}  // namespace ttyward::record
