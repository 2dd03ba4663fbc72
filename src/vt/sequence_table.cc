#include "vt/sequence_table.h"

#include <fmt/format.h>

#include <array>

namespace ttyward::vt {
namespace {

using K = SequenceTable::Kind;
using E = SequenceTable::Entry;

}  // namespace

std::span<const SequenceTable::Entry> SequenceTable::entries() {
  using S = Screen;
  static constexpr E kEntries[] = {
      // --- cursor
      {K::Csi, 0, 0, 0, 'A', "CUU", "cursor up", &S::CUU_CursorUp},
      {K::Csi, 0, 0, 0, 'B', "CUD", "cursor down", &S::CUD_CursorDown},
      {K::Csi, 0, 0, 0, 'C', "CUF", "cursor forward", &S::CUF_CursorForward},
      {K::Csi, 0, 0, 0, 'D', "CUB", "cursor backward", &S::CUB_CursorBackward},
      {K::Csi, 0, 0, 0, 'E', "CNL", "cursor to the start of a line below", &S::CNL_CursorNextLine},
      {K::Csi, 0, 0, 0, 'F', "CPL", "cursor to the start of a line above", &S::CPL_CursorPreviousLine},
      {K::Csi, 0, 0, 0, 'G', "CHA", "cursor to a column", &S::CHA_CursorColumn},
      {K::Csi, 0, 0, 0, '`', "HPA", "cursor to a column", &S::CHA_CursorColumn},
      {K::Csi, 0, 0, 0, 'a', "HPR", "columns forward", &S::HPR_ColumnForward},
      {K::Csi, 0, 0, 0, 'H', "CUP", "cursor to a position", &S::CUP_CursorPosition},
      {K::Csi, 0, 0, 0, 'f', "HVP", "cursor to a position", &S::CUP_CursorPosition},
      {K::Csi, 0, 0, 0, 'd', "VPA", "cursor to a row", &S::VPA_CursorRow},
      {K::Csi, 0, 0, 0, 'e', "VPR", "rows down", &S::VPR_RowForward},
      {K::Csi, 0, 0, 0, 'u', "SCORC", "restore the cursor", &S::SCORC_RestoreCursor},
      {K::Csi, 0, 0, 0, 's', "DECSLRM, SCOSC",
       "left and right margins where ?69 is set, else save the cursor", &S::DECSLRM_SetLeftRightMargins},
      {K::Csi, 0, ' ', 0, 'q', "DECSCUSR", "cursor shape", &S::DECSCUSR_CursorStyle},
      {K::Esc, 0, 0, 0, '7', "DECSC", "save cursor, style, charsets, origin mode", &S::DECSC_SaveCursor},
      {K::Esc, 0, 0, 0, '8', "DECRC", "restore them", &S::DECRC_RestoreCursor},
      {K::Esc, 0, 0, 0, 'D', "IND", "down, scrolling at the bottom margin", &S::IND_Index},
      {K::Esc, 0, 0, 0, 'E', "NEL", "start of the next line", &S::NEL_NextLine},
      {K::Esc, 0, 0, 0, 'M', "RI", "up, scrolling at the top margin", &S::RI_ReverseIndex},
      {K::Esc, 0, 0, 0, '6', "DECBI", "left, scrolling at the left margin", &S::DECBI_BackIndex},
      {K::Esc, 0, 0, 0, '9', "DECFI", "right, scrolling at the right margin", &S::DECFI_ForwardIndex},
      // --- tabs
      {K::Csi, 0, 0, 0, 'I', "CHT", "tabs forward", &S::CHT_TabForward},
      {K::Csi, 0, 0, 0, 'Z', "CBT", "tabs backward", &S::CBT_TabBackward},
      {K::Csi, 0, 0, 0, 'g', "TBC", "clear tab stops", &S::TBC_ClearTabs},
      {K::Csi, '?', 0, 0, 'W', "DECST8C", "tab stops every eight columns", &S::DECST8C_SetTabsEveryEight},
      {K::Esc, 0, 0, 0, 'H', "HTS", "set a tab stop", &S::HTS_SetTab},
      // --- erase, insert, delete, scroll
      {K::Csi, 0, 0, 0, 'J', "ED", "erase in display; 3 clears the scrollback", &S::ED_EraseDisplay},
      {K::Csi, 0, 0, 0, 'K', "EL", "erase in line", &S::EL_EraseLine},
      {K::Csi, '?', 0, 0, 'J', "DECSED", "erase in display, protected cells stay",
       &S::DECSED_SelectiveEraseDisplay},
      {K::Csi, '?', 0, 0, 'K', "DECSEL", "erase in line, protected cells stay",
       &S::DECSEL_SelectiveEraseLine},
      {K::Csi, 0, 0, 0, 'X', "ECH", "erase characters", &S::ECH_EraseCharacters},
      {K::Csi, 0, 0, 0, '@', "ICH", "insert characters", &S::ICH_InsertCharacters},
      {K::Csi, 0, 0, 0, 'P', "DCH", "delete characters", &S::DCH_DeleteCharacters},
      {K::Csi, 0, 0, 0, 'L', "IL", "insert lines", &S::IL_InsertLines},
      {K::Csi, 0, 0, 0, 'M', "DL", "delete lines", &S::DL_DeleteLines},
      {K::Csi, 0, 0, 0, 'S', "SU", "scroll up", &S::SU_ScrollUp},
      {K::Csi, 0, 0, 0, 'T', "SD", "scroll down", &S::SD_ScrollDownOrTrack},
      {K::Csi, 0, 0, 0, '^', "SD", "scroll down", &S::SD_ScrollDown},
      {K::Csi, 0, ' ', 0, '@', "SL", "scroll left", &S::SL_ScrollLeft},
      {K::Csi, 0, ' ', 0, 'A', "SR", "scroll right", &S::SR_ScrollRight},
      {K::Csi, 0, '\'', 0, '}', "DECIC", "insert columns", &S::DECIC_InsertColumns},
      {K::Csi, 0, '\'', 0, '~', "DECDC", "delete columns", &S::DECDC_DeleteColumns},
      {K::Csi, 0, 0, 0, 'r', "DECSTBM", "top and bottom margins", &S::DECSTBM_SetTopBottomMargins},
      {K::Csi, 0, 0, 0, 'b', "REP", "repeat the last character", &S::REP_Repeat},
      {K::Esc, 0, '#', 0, '8', "DECALN", "fill the screen with E", &S::DECALN_AlignmentPattern},
      {K::Esc, 0, '#', 0, '3', "DECDHL", "double height, top half", &S::DECDHL_DoubleHeightTop},
      {K::Esc, 0, '#', 0, '4', "DECDHL", "double height, bottom half", &S::DECDHL_DoubleHeightBottom},
      {K::Esc, 0, '#', 0, '5', "DECSWL", "single width", &S::DECSWL_SingleWidth},
      {K::Esc, 0, '#', 0, '6', "DECDWL", "double width", &S::DECDWL_DoubleWidth},
      // --- rectangles
      {K::Csi, 0, '$', 0, 'x', "DECFRA", "fill a rectangle", &S::DECFRA_FillRectangle},
      {K::Csi, 0, '$', 0, 'z', "DECERA", "erase a rectangle", &S::DECERA_EraseRectangle},
      {K::Csi, 0, '$', 0, '{', "DECSERA", "erase a rectangle, protected cells stay",
       &S::DECSERA_SelectiveEraseRectangle},
      {K::Csi, 0, '$', 0, 'v', "DECCRA", "copy a rectangle", &S::DECCRA_CopyRectangle},
      {K::Csi, 0, '$', 0, 'r', "DECCARA", "change attributes in a rectangle", &S::DECCARA_ChangeAttributes},
      {K::Csi, 0, '$', 0, 't', "DECRARA", "reverse attributes in a rectangle", &S::DECRARA_ReverseAttributes},
      {K::Csi, 0, '*', 0, 'x', "DECSACE", "extent of attribute changes", &S::DECSACE_AttributeExtent},
      {K::Csi, 0, '*', 0, 'y', "DECRQCRA", "checksum of a rectangle", &S::DECRQCRA_ChecksumRectangle},
      // --- looks
      {K::Csi, 0, 0, 0, 'm', "SGR", "colours and attributes", &S::SGR_SelectGraphicRendition},
      {K::Csi, 0, '#', 0, '{', "XTPUSHSGR", "push the style", &S::XTPUSHSGR_PushStyle},
      {K::Csi, 0, '#', 0, 'p', "XTPUSHSGR", "push the style", &S::XTPUSHSGR_PushStyle},
      {K::Csi, 0, '#', 0, '}', "XTPOPSGR", "pop the style", &S::XTPOPSGR_PopStyle},
      {K::Csi, 0, '#', 0, 'q', "XTPOPSGR", "pop the style", &S::XTPOPSGR_PopStyle},
      {K::Csi, 0, '"', 0, 'q', "DECSCA", "protect from selective erase", &S::DECSCA_Protect},
      {K::Esc, 0, 0, 0, 'V', "SPA", "protect from erase", &S::SPA_StartProtected},
      {K::Esc, 0, 0, 0, 'W', "EPA", "end of protection", &S::EPA_EndProtected},
      // --- character sets (designating sequences are dispatched apart: ESC ( ) * + - . /)
      {K::Esc, 0, 0, 0, 'N', "SS2", "G2 for one character", &S::SS2_SingleShift},
      {K::Esc, 0, 0, 0, 'O', "SS3", "G3 for one character", &S::SS3_SingleShift},
      {K::Esc, 0, 0, 0, 'n', "LS2", "G2 to the left", &S::LS2_LockingShift},
      {K::Esc, 0, 0, 0, 'o', "LS3", "G3 to the left", &S::LS3_LockingShift},
      {K::Esc, 0, 0, 0, '~', "LS1R", "G1 to the right", &S::LS1R_LockingShiftRight},
      {K::Esc, 0, 0, 0, '}', "LS2R", "G2 to the right", &S::LS2R_LockingShiftRight},
      {K::Esc, 0, 0, 0, '|', "LS3R", "G3 to the right", &S::LS3R_LockingShiftRight},
      // --- modes and resets
      {K::Csi, 0, 0, 0, 'h', "SM", "set modes", &S::SM_SetMode},
      {K::Csi, 0, 0, 0, 'l', "RM", "reset modes", &S::RM_ResetMode},
      {K::Csi, '?', 0, 0, 'h', "DECSET", "set private modes", &S::DECSET_SetPrivateMode},
      {K::Csi, '?', 0, 0, 'l', "DECRST", "reset private modes", &S::DECRST_ResetPrivateMode},
      {K::Csi, '?', 0, 0, 's', "XTSAVE", "save private modes", &S::XTSAVE_SavePrivateModes},
      {K::Csi, '?', 0, 0, 'r', "XTRESTORE", "restore private modes", &S::XTRESTORE_RestorePrivateModes},
      {K::Csi, 0, '!', 0, 'p', "DECSTR", "soft reset", &S::DECSTR_SoftReset},
      {K::Csi, 0, '"', 0, 'p', "DECSCL", "conformance level", &S::DECSCL_ConformanceLevel},
      {K::Esc, 0, 0, 0, 'c', "RIS", "reset everything", &S::RIS_Reset},
      {K::Esc, 0, 0, 0, '=', "DECKPAM", "application keypad", &S::DECKPAM_ApplicationKeypad},
      {K::Esc, 0, 0, 0, '>', "DECKPNM", "numeric keypad", &S::DECKPNM_NumericKeypad},
      // --- keyboard
      {K::Csi, '>', 0, 0, 'm', "XTMODKEYS", "modifier keys, modifyOtherKeys", &S::XTMODKEYS_SetModifierKeys},
      {K::Csi, '>', 0, 0, 'n', "XTMODKEYS", "modifier keys off", &S::XTUNMODKEYS_ResetModifierKeys},
      {K::Csi, '?', 0, 0, 'm', "XTQMODKEYS", "ask for modifier keys", &S::XTQMODKEYS_QueryModifierKeys},
      {K::Csi, '=', 0, 0, 'u', "kitty", "set keyboard flags", &S::KITTY_SetKeyboard},
      {K::Csi, '>', 0, 0, 'u', "kitty", "push keyboard flags", &S::KITTY_PushKeyboard},
      {K::Csi, '<', 0, 0, 'u', "kitty", "pop keyboard flags", &S::KITTY_PopKeyboard},
      {K::Csi, '?', 0, 0, 'u', "kitty", "ask for keyboard flags", &S::KITTY_QueryKeyboard},
      // --- questions
      {K::Csi, 0, 0, 0, 'c', "DA1", "primary attributes", &S::DA1_PrimaryAttributes},
      {K::Csi, '>', 0, 0, 'c', "DA2", "secondary attributes", &S::DA2_SecondaryAttributes},
      {K::Csi, '=', 0, 0, 'c', "DA3", "tertiary attributes", &S::DA3_TertiaryAttributes},
      {K::Csi, 0, 0, 0, 'n', "DSR", "device status, cursor position", &S::DSR_DeviceStatus},
      {K::Csi, '?', 0, 0, 'n', "DSR", "private device status, colour scheme", &S::DECDSR_PrivateDeviceStatus},
      {K::Csi, 0, '$', 0, 'p', "DECRQM", "ask for a mode", &S::DECRQM_RequestMode},
      {K::Csi, '?', '$', 0, 'p', "DECRQM", "ask for a private mode", &S::DECRQM_RequestPrivateMode},
      {K::Csi, 0, 0, 0, 'x', "DECREQTPARM", "terminal parameters", &S::DECREQTPARM_TerminalParameters},
      {K::Csi, '>', 0, 0, 'q', "XTVERSION", "name and version", &S::XTVERSION_Version},
      {K::Csi, 0, 0, 0, 't', "XTWINOPS", "sizes, title stack, resize requests; titles are not told",
       &S::XTWINOPS_Window},
      {K::Csi, 0, '$', 0, '|', "DECSCPP", "columns per page: a resize request", &S::DECSCPP_ColumnsPerPage},
      {K::Csi, 0, '*', 0, '|', "DECSNLS", "lines per screen: a resize request", &S::DECSNLS_LinesPerScreen},
      {K::Esc, 0, 0, 0, 'Z', "DECID", "primary attributes", &S::DECID_Identify},
      // --- ignored on purpose
      {K::Csi, 0, 0, 0, 'i', "MC", "printing: there is no printer", nullptr},
      {K::Csi, 0, '$', 0, '}', "DECSASD", "active display: there is no status line", nullptr},
      {K::Csi, 0, '$', 0, '~', "DECSSDT", "status line: there is none", nullptr},
      {K::Csi, '?', 0, 0, 'i', "DECMC", "printing: there is no printer", nullptr},
      {K::Csi, '>', 0, 0, 'p', "XTSMPOINTER", "pointer hiding: there is no pointer", nullptr},
      {K::Csi, '>', 0, 0, 't', "XTSMTITLE", "title encoding: titles are UTF-8", nullptr},
      {K::Csi, '>', 0, 0, 'T', "XTRMTITLE", "title encoding: titles are UTF-8", nullptr},
      {K::Csi, '?', 0, 0, 'S', "XTSMGRAPHICS", "graphics: none are drawn", nullptr},
      {K::Csi, 0, '#', 0, 'y', "XTCHECKSUM", "checksum flavour: always the VT420 one", nullptr},
      {K::Esc, 0, 0, 0, 'l', "", "memory lock of HP terminals", nullptr},
      {K::Esc, 0, 0, 0, 'm', "", "memory unlock of HP terminals", nullptr},
      {K::Esc, 0, '%', 0, 'G', "", "UTF-8 is always on", nullptr},
      {K::Esc, 0, '%', 0, '@', "", "UTF-8 is always on", nullptr},
      {K::Esc, 0, ' ', 0, 'F', "S7C1T", "answers are always 7-bit", nullptr},
      {K::Esc, 0, ' ', 0, 'G', "S8C1T", "answers are always 7-bit", nullptr},
  };
  return kEntries;
}

namespace {

// Finals 0x40..0x7E of one prefix, without intermediates.
using Finals = std::array<SequenceTable::Handler, 64>;

Finals finals_of(char prefix) {
  Finals finals{};
  for (const E& entry : SequenceTable::entries()) {
    if (entry.kind == K::Csi && entry.prefix == prefix && entry.first == 0) {
      finals[static_cast<size_t>(entry.final - 0x40)] = entry.handler;
    }
  }
  return finals;
}

const Finals kPlain = finals_of(0);
const Finals kPrivate = finals_of('?');

std::string spelled(const E& entry) {
  std::string out = entry.kind == K::Csi ? "CSI" : "ESC";
  for (const char c : {entry.prefix, entry.first, entry.second, entry.final}) {
    if (c == ' ') out += " SP";
    if (c == '|') out += " \\|";
    if (c > ' ' && c != '|') out += fmt::format(" {}", c);
  }
  return out;
}

}  // namespace

SequenceTable::Handler SequenceTable::find_plain(char final) {
  return kPlain[static_cast<size_t>(final - 0x40)];
}
SequenceTable::Handler SequenceTable::find_private(char final) {
  return kPrivate[static_cast<size_t>(final - 0x40)];
}

SequenceTable::Handler SequenceTable::find(Kind kind, uint32_t key) {
  for (const Entry& entry : entries()) {
    if (entry.kind == kind && Sequence::key(entry.prefix, entry.first, entry.second, entry.final) == key) {
      return entry.handler;
    }
  }
  return nullptr;
}

std::string SequenceTable::to_markdown() {
  std::string out = "| sequence | name | meaning |\n|---|---|---|\n";
  for (const Entry& entry : entries()) {
    out += fmt::format("| `{}` | {} | {}{} |\n", spelled(entry), entry.mnemonic,
                       entry.handler == nullptr ? "ignored; " : "", entry.meaning);
  }
  return out;
}

void Screen::execute(uint8_t control) {
  last_char_ = 0;
  switch (control) {
    case 0x07:
      report(Bell{});
      break;
    case 0x08:
      backspace();
      break;
    case 0x09:
      horizontal_tab();
      break;
    case 0x0A:
    case 0x0B:
    case 0x0C:
      line_feed(control);
      break;
    case 0x0D:
      carriage_return();
      break;
    case 0x0E:
    case 0x0F:
      charset_.left = control == 0x0E ? 1 : 0;
      update_plain();
      break;
    default:
      break;  // NUL and the rest; ENQ has no answerback
  }
}

void Screen::csi_dispatch(const Sequence& s) {
  SequenceTable::Handler handler = nullptr;
  if (s.intermediates[0] != 0) {
    handler = SequenceTable::find(K::Csi, s.key());
  } else if (s.prefix == 0) {
    handler = SequenceTable::find_plain(s.final);
  } else {
    handler = s.prefix == '?' ? SequenceTable::find_private(s.final) : SequenceTable::find(K::Csi, s.key());
  }
  if (s.final != 'b') last_char_ = 0;
  if (handler != nullptr) (this->*handler)(s.params);
}

void Screen::esc_dispatch(const Sequence& s) {
  last_char_ = 0;
  const char first = s.intermediates[0];
  if (first >= '(' && first <= '/' && first != ',') {
    designate_charset(s);
    return;
  }
  const SequenceTable::Handler handler = SequenceTable::find(K::Esc, s.key());
  if (handler != nullptr) (this->*handler)(s.params);
}

}  // namespace ttyward::vt
