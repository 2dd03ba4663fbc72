// Terminal modes as rows of one table: number, name, what they start as.
#pragma once

#include <cstdint>
#include <span>

namespace ttyward::vt {

enum class Mode : uint8_t {
  // ANSI (SM, RM)
  KeyboardLock,
  Insert,
  SendReceive,
  LineFeedNewLine,
  // DEC private (DECSET, DECRST)
  ApplicationCursorKeys,
  Columns132,
  SmoothScroll,
  ReverseVideo,
  Origin,
  AutoWrap,
  AutoRepeat,
  PrintFormFeed,
  PrintWholeScreen,
  MouseX10,
  CursorBlink,
  CursorVisible,
  Allow132,
  TabAfterWrap,
  NationalReplacement,
  ReverseWrap,
  AlternateScreen47,
  ApplicationKeypad,
  BackspaceSendsBs,
  LeftRightMargins,
  SixelDisplay,
  MousePress,
  MouseHighlight,
  MouseDrag,
  MouseAny,
  FocusEvents,
  MouseUtf8,
  MouseSgr,
  AlternateScroll,
  MouseUrxvt,
  MousePixels,
  MetaSendsEighthBit,
  NumLockModifier,
  MetaSendsEscape,
  AltSendsEscape,
  ExtendedReverseWrap,
  AlternateScreen1047,
  SavedCursor1048,
  AlternateScreen1049,
  BracketedPaste,
  SynchronizedOutput,
  GraphemeClusters,
  ColorSchemeReports,
  InBandResize,
  Count,
};

struct ModeRow {
  uint16_t number;
  bool dec;  // set by DECSET rather than SM
  Mode mode;
  bool initially;
  const char* name;  // as `render --format json` lists it
};

std::span<const ModeRow> mode_table();
const ModeRow* find_mode(uint16_t number, bool dec);
// Modes we know and never set: what they would switch on is not there.
bool is_permanently_reset(uint16_t number, bool dec);

class ModeSet {
 public:
  bool has(Mode mode) const { return (bits_ >> static_cast<unsigned>(mode) & 1) != 0; }
  void assign(Mode mode, bool on) {
    const uint64_t bit = uint64_t{1} << static_cast<unsigned>(mode);
    bits_ = on ? bits_ | bit : bits_ & ~bit;
  }
  bool operator==(const ModeSet&) const = default;

  static ModeSet initial();

 private:
  uint64_t bits_ = 0;
};
static_assert(static_cast<unsigned>(Mode::Count) <= 64, "ModeSet is one word");

}  // namespace ttyward::vt
