// A screen, and what changed on it: rows of text in runs that look alike.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "wire/types/describe.h"

namespace ttyward::wire {

inline constexpr std::string_view kColourAbout =
    "a number of the palette, \"0\" to \"255\", or \"#rrggbb\"; left out: the usual one";

// Neighbouring columns that look alike.
struct ScreenRun {
  static constexpr std::string_view kName = "ScreenRun";
  static constexpr std::string_view kAbout = "Neighbouring columns that look alike.";
  std::string text;
  int64_t cols = 0;
  std::string fg;
  std::string bg;
  std::string underline;
  std::string underline_colour;
  bool bold = false;
  bool dim = false;
  bool italic = false;
  bool blink = false;
  bool inverse = false;
  bool hidden = false;
  bool strike = false;
  bool overline = false;
  template <class V>
  static void describe(V& v, auto& self) {
    v.field("text", self.text, "without control characters; an empty column is a space");
    v.field("cols", self.cols, "how many columns it covers");
    v.field("fg", self.fg, kColourAbout, kLeftOut);
    v.field("bg", self.bg, kColourAbout, kLeftOut);
    v.field("underline", self.underline, "how it is underlined", kLeftOut,
            OneOf{"single|double|curly|dotted|dashed"});
    v.field("underline_colour", self.underline_colour, kColourAbout, kLeftOut);
    v.field("bold", self.bold, "true, or left out", kLeftOut);
    v.field("dim", self.dim, "the same", kLeftOut);
    v.field("italic", self.italic, "the same", kLeftOut);
    v.field("blink", self.blink, "the same", kLeftOut);
    v.field("inverse", self.inverse, "colours exchanged", kLeftOut);
    v.field("hidden", self.hidden, "not to be shown", kLeftOut);
    v.field("strike", self.strike, "struck through", kLeftOut);
    v.field("overline", self.overline, "the same", kLeftOut);
  }
};

struct ScreenRow {
  uint64_t row = 0;
  std::vector<ScreenRun> runs;
  template <class V>
  static void describe(V& v, auto& self) {
    v.field("row", self.row, "its stable number");
    v.field("runs", self.runs, "from the first column on; what they do not reach is blank");
  }
};

enum class CursorShape : uint8_t { Block, Underline, Bar };
constexpr std::array<std::string_view, 3> names_of(CursorShape) {
  return {"block", "underline", "bar"};
}

struct ScreenCursor {
  int64_t row = 0;
  int64_t col = 0;
  bool visible = true;
  CursorShape shape = CursorShape::Block;
  bool blinks = false;
  template <class V>
  static void describe(V& v, auto& self) {
    v.field("row", self.row, "of the screen, from 0");
    v.field("col", self.col, "from 0");
    v.field("visible", self.visible, "it is shown");
    v.field("shape", self.shape, "how");
    v.field("blinks", self.blinks, "it blinks");
  }
};

struct ScreenDelta {
  static constexpr std::string_view kName = "ScreenDelta";
  static constexpr std::string_view kAbout =
      "What changed on a screen. Rows have stable numbers: one that scrolls up keeps its number and is not "
      "sent again. A viewer keeps rows by number, replaces those that come, and shows those from `first_row` "
      "on; everything that is not a row is as it is now.";
  uint64_t sequence = 0;
  bool reset = false;
  int64_t cols = 0;
  int64_t rows = 0;
  uint64_t first_row = 0;
  std::vector<ScreenRow> lines;
  ScreenCursor cursor;
  bool alternate = false;
  std::vector<int64_t> modes;
  int64_t kitty_keyboard = 0;
  int64_t modify_other_keys = 0;
  template <class V>
  static void describe(V& v, auto& self) {
    v.field("sequence", self.sequence, "grows with each change");
    v.field("reset", self.reset, "forget all rows: all there are, are in `lines`");
    v.field("cols", self.cols, "columns of the screen");
    v.field("rows", self.rows, "rows of the screen");
    v.field("first_row", self.first_row, "the stable number of the topmost row");
    v.field("lines", self.lines, "rows that changed");
    v.field("cursor", self.cursor, "where it is");
    v.field("alternate", self.alternate, "a full-screen program has it");
    v.field("modes", self.modes, "DEC private modes that are set: they decide what keys and the mouse send");
    v.field("kitty_keyboard", self.kitty_keyboard, "flags of that protocol", kLeftOut);
    v.field("modify_other_keys", self.modify_other_keys, "as xterm has it", kLeftOut);
  }
};

}  // namespace ttyward::wire
