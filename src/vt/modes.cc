#include "vt/modes.h"

#include <algorithm>

namespace ttyward::vt {
namespace {

constexpr ModeRow kModes[] = {
    {2, false, Mode::KeyboardLock, false, "keyboard_lock"},
    {4, false, Mode::Insert, false, "insert"},
    {12, false, Mode::SendReceive, true, "send_receive"},
    {20, false, Mode::LineFeedNewLine, false, "line_feed_new_line"},
    {1, true, Mode::ApplicationCursorKeys, false, "application_cursor_keys"},
    {3, true, Mode::Columns132, false, "columns_132"},
    {4, true, Mode::SmoothScroll, false, "smooth_scroll"},
    {5, true, Mode::ReverseVideo, false, "reverse_video"},
    {6, true, Mode::Origin, false, "origin"},
    {7, true, Mode::AutoWrap, true, "auto_wrap"},
    {8, true, Mode::AutoRepeat, true, "auto_repeat"},
    {9, true, Mode::MouseX10, false, "mouse_x10"},
    {18, true, Mode::PrintFormFeed, false, "print_form_feed"},
    {19, true, Mode::PrintWholeScreen, false, "print_whole_screen"},
    {12, true, Mode::CursorBlink, false, "cursor_blink"},
    {25, true, Mode::CursorVisible, true, "cursor_visible"},
    {40, true, Mode::Allow132, false, "allow_132_columns"},
    {41, true, Mode::TabAfterWrap, false, "tab_after_wrap"},
    {42, true, Mode::NationalReplacement, false, "national_replacement"},
    {45, true, Mode::ReverseWrap, false, "reverse_wrap"},
    {47, true, Mode::AlternateScreen47, false, "alternate_screen_47"},
    {66, true, Mode::ApplicationKeypad, false, "application_keypad"},
    {67, true, Mode::BackspaceSendsBs, false, "backspace_sends_bs"},
    {69, true, Mode::LeftRightMargins, false, "left_right_margins"},
    {80, true, Mode::SixelDisplay, false, "sixel_display"},
    {1000, true, Mode::MousePress, false, "mouse_press"},
    {1001, true, Mode::MouseHighlight, false, "mouse_highlight"},
    {1002, true, Mode::MouseDrag, false, "mouse_drag"},
    {1003, true, Mode::MouseAny, false, "mouse_any"},
    {1004, true, Mode::FocusEvents, false, "focus_events"},
    {1005, true, Mode::MouseUtf8, false, "mouse_utf8"},
    {1006, true, Mode::MouseSgr, false, "mouse_sgr"},
    {1007, true, Mode::AlternateScroll, false, "alternate_scroll"},
    {1015, true, Mode::MouseUrxvt, false, "mouse_urxvt"},
    {1016, true, Mode::MousePixels, false, "mouse_pixels"},
    {1034, true, Mode::MetaSendsEighthBit, false, "meta_sends_eighth_bit"},
    {1035, true, Mode::NumLockModifier, true, "num_lock_modifier"},
    {1036, true, Mode::MetaSendsEscape, true, "meta_sends_escape"},
    {1039, true, Mode::AltSendsEscape, true, "alt_sends_escape"},
    {1045, true, Mode::ExtendedReverseWrap, false, "extended_reverse_wrap"},
    {1047, true, Mode::AlternateScreen1047, false, "alternate_screen_1047"},
    {1048, true, Mode::SavedCursor1048, false, "saved_cursor_1048"},
    {1049, true, Mode::AlternateScreen1049, false, "alternate_screen_1049"},
    {2004, true, Mode::BracketedPaste, false, "bracketed_paste"},
    {2026, true, Mode::SynchronizedOutput, false, "synchronized_output"},
    {2027, true, Mode::GraphemeClusters, false, "grapheme_clusters"},
    {2031, true, Mode::ColorSchemeReports, false, "color_scheme_reports"},
    {2048, true, Mode::InBandResize, false, "in_band_resize"},
};

}  // namespace

std::span<const ModeRow> mode_table() {
  return kModes;
}

const ModeRow* find_mode(uint16_t number, bool dec) {
  for (const ModeRow& row : kModes) {
    if (row.number == number && row.dec == dec) return &row;
  }
  return nullptr;
}

bool is_permanently_reset(uint16_t number, bool dec) {
  // Of ISO 6429: GATM, CRM, SRTM, VEM, HEM, PUM, FEAM, FETM, MATM, TTM, SATM, TSM, EBM. Of DEC: DECHCCM
  // (there is no horizontal scrolling), and DECNCSM, which a VT420 does not have.
  constexpr uint16_t kAnsi[] = {1, 3, 5, 7, 10, 11, 13, 14, 15, 16, 17, 18, 19};
  constexpr uint16_t kDec[] = {60, 95};
  const std::span<const uint16_t> list =
      dec ? std::span<const uint16_t>(kDec) : std::span<const uint16_t>(kAnsi);
  return std::find(list.begin(), list.end(), number) != list.end();
}

ModeSet ModeSet::initial() {
  ModeSet modes;
  for (const ModeRow& row : kModes) modes.assign(row.mode, row.initially);
  return modes;
}

}  // namespace ttyward::vt
