// The terminal itself: bytes in; cells, replies and events out.
//
// A Screen is a value with no descriptor, clock, lock or thread of its own. The
// owner feeds it what the program printed, writes what `take_replies` returns
// back to the program, and reads rows out whenever somebody wants to look.
//
//     feed(bytes) ─► Parser ─► the handlers below (ops/*.cc, osc/*.cc) ─► Grid ─► Scrollback
//                                   │replies     │events
//
// Rows are counted from 0 at the top of the screen. A row's StableRow is its
// number since the screen was made; rows that scroll into history keep theirs.
// `seq` grows with every call that may change something; each row remembers the
// seq it last changed at, so a viewer asks "what is newer than what I have".
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "vt/charset.h"
#include "vt/cluster.h"
#include "vt/events.h"
#include "vt/grid.h"
#include "vt/keyboard.h"
#include "vt/line.h"
#include "vt/link.h"
#include "vt/modes.h"
#include "vt/palette.h"
#include "vt/parser.h"
#include "vt/scrollback.h"
#include "vt/sequence.h"
#include "vt/style.h"
#include "vt/tabs.h"
#include "vt/width.h"

namespace ttyward::vt {

using Seq = uint64_t;

enum class CursorShape : uint8_t { Block, Underline, Bar };

struct Cursor {
  int row = 0;
  int col = 0;
  bool pending_wrap = false;  // the last column is written; the next character goes to the next row

  bool operator==(const Cursor&) const = default;
};

// Told of each row of the main screen that scrolls away for good, just before it does.
class RowSink {
 public:
  virtual void row_left(const Line& line) = 0;

 protected:
  ~RowSink() = default;
};

struct ScreenOptions {
  int cols = 80;
  int rows = 24;
  Scrollback::Limits scrollback;
  // Line feeds also return the carriage: for text that never went through a tty.
  bool lf_is_crlf = false;
  // Answer identity queries exactly as xterm does and let programs change the size, as conformance suites
  // expect.
  bool conformance = false;
  // Where rows go that leave the screen, besides the scrollback. Not owned; outlives the screen. With a sink
  // the scrollback should be empty, or a resize could bring rows back that were already handed out.
  RowSink* sink = nullptr;
};

class Screen {
 public:
  // Largest screen: beyond these a size is clamped. 4 M cells are 32 MiB.
  static constexpr int kMaxCols = 10'000;
  static constexpr int kMaxRows = 10'000;
  static constexpr int kMaxCells = 4'000'000;
  static constexpr size_t kMaxTitleBytes = 1024;     // longer titles are cut
  static constexpr size_t kMaxTitleStack = 16;       // pushing more drops the oldest
  static constexpr size_t kMaxStyleStack = 10;       // XTPUSHSGR; pushing more is ignored
  static constexpr size_t kMaxReplyBytes = 1 << 16;  // unread replies; further ones are dropped
  static constexpr size_t kMaxEvents = 4096;         // unread events; further ones are counted and dropped

  explicit Screen(const ScreenOptions& options = {});
  Screen(const Screen&) = delete;
  Screen& operator=(const Screen&) = delete;

  // --- what the program printed, and the window it prints to
  void feed(std::string_view bytes);
  void resize(int cols, int rows);
  // For the owner's timer: a program that set synchronized output and died must not freeze viewers.
  void end_synchronized_output();
  // Lets every row above the cursor scroll away, as printing a screenful of lines would. For an owner that is
  // about to account for such lines itself.
  void scroll_out();

  std::string take_replies();
  std::vector<Event> take_events();
  uint64_t dropped_events() const { return dropped_events_; }

  // --- reading out. While synchronized output is on, what is read is the last complete frame.
  int cols() const { return shown().cols(); }
  int rows() const { return shown().rows(); }
  Seq seq() const { return seq_; }
  // Of what is read out: during synchronized output that is older than seq().
  Seq shown_seq() const { return frozen_ ? frozen_->seq : seq_; }
  uint64_t bytes_fed() const { return parser_.offset(); }
  Cursor cursor() const { return frozen_ ? frozen_->cursor : cursor_; }
  CursorShape cursor_shape() const { return cursor_shape_; }
  bool cursor_blinks() const { return modes_.has(Mode::CursorBlink); }
  bool cursor_visible() const { return frozen_ ? frozen_->cursor_visible : modes_.has(Mode::CursorVisible); }
  bool is_alternate() const { return frozen_ ? frozen_->alternate : grid_ != &main_.grid; }
  const std::string& title() const { return title_; }
  const std::string& icon_title() const { return icon_title_; }
  const ModeSet& modes() const { return modes_; }
  const Palette& palette() const { return palette_; }
  const Progress& progress() const { return progress_; }
  KeyboardState keyboard() const;

  Line line(int row) const { return read_row(shown().row(row), styles_, clusters_); }
  Seq row_changed(int row) const { return shown().row(row).changed; }
  StableRow stable_row(int row) const { return top_row() + static_cast<StableRow>(row); }
  // Everything changed at this seq: resize, reset, another screen.
  Seq all_changed() const { return frozen_ ? frozen_->all_changed : all_changed_; }

  size_t history_size() const { return scrollback_.size(); }
  Line history_line(size_t index) const { return scrollback_.read(index); }  // 0 is the oldest
  const Link& link(uint16_t number) const { return links_[number]; }
  // The cell as stored, for tests and checksums.
  Cell cell(int row, int col) const { return shown().cell(row, col); }
  const Style& style(StyleId id) const { return styles_[id]; }
  void append_glyph(const Cell& cell, std::string& out) const { clusters_.append_utf8(cell.glyph(), out); }

  // --- state a serializer needs to reproduce the screen
  struct Margins {
    int top, bottom, left, right;
    bool operator==(const Margins&) const = default;
  };
  Margins margins() const { return {top_, bottom_, left_, right_}; }
  const Style& pen() const { return pen_; }
  const TabStops& tabs() const { return tabs_; }
  const std::array<Charset, 4>& charsets() const { return charset_.sets; }
  unsigned active_charset() const { return charset_.left; }
  size_t memory() const;
  // No half-read sequence or character.
  bool is_ground() const { return parser_.is_ground(); }
  // True if no row from the cursor's on holds anything.
  bool nothing_below_cursor() const;

  // --- what the parser calls
  void print_ascii(const uint8_t* text, size_t n);
  void print_text(const char32_t* text, size_t n);
  void execute(uint8_t control);
  void esc_dispatch(const Sequence& sequence);
  void csi_dispatch(const Sequence& sequence);
  void osc_dispatch(std::string_view data, Terminator terminator, uint64_t begin, uint64_t end);
  void dcs_dispatch(const Sequence& sequence, std::string_view data);

 private:
  friend struct SequenceTable;
  using P = const Params&;

  struct Charsets {
    std::array<Charset, 4> sets{};
    uint8_t left = 0;          // GL
    uint8_t right = 2;         // GR; kept for DECRQSS and restore, UTF-8 text does not use it
    int8_t single_shift = -1;  // set used for the next character only

    bool operator==(const Charsets&) const = default;
  };
  struct SavedCursor {
    Cursor cursor;
    Style pen;
    Charsets charset;
    bool origin = false;
    bool valid = false;
  };
  struct Side {
    Grid grid;
    SavedCursor saved;
    KittyFlags kitty;
  };
  struct Frozen {
    Grid grid;
    Cursor cursor;
    bool cursor_visible;
    bool alternate;
    StableRow top_row;
    Seq seq;
    Seq all_changed;
  };
  enum class Protection : uint8_t { Off, Iso, Dec };
  enum class Respect : uint8_t { Nothing, Protected };
  struct Rect {
    int top, left, bottom, right;
  };

  // screen.cc
  const Grid& shown() const { return frozen_ ? frozen_->grid : *grid_; }
  StableRow top_row() const { return frozen_ ? frozen_->top_row : top_row_; }
  bool on_main() const { return grid_ == &main_.grid; }
  Side& side() { return on_main() ? main_ : *alternate_; }
  Row& here() { return grid_->row(cursor_.row); }
  void touch(Row& row) const { row.changed = seq_; }
  void touch_rows(int from, int to);
  StyleId pen_id() {
    if (pen_dirty_) resolve_pen();
    return pen_id_;
  }
  void resolve_pen();
  StyleId blank_id();
  void pen_changed() { pen_dirty_ = true; }
  void reply(std::string_view bytes);
  void report(Event event);
  void collect_garbage();
  void collect_links();
  void freeze();
  void update_plain();

  // resize.cc
  void reflow_main(int cols, int rows);
  void resize_alternate(int cols, int rows);

  // ops/print.cc
  void wrap_line();
  // One past the last column that text at the cursor may use. Rows of double width have half as many.
  int right_limit() const {
    const int half = grid_->cols() / 2;
    if (grid_->row(cursor_.row).has(Row::kDoubleWidth) && cursor_.col < half) return half;
    return cursor_.col <= right_ ? right_ + 1 : grid_->cols();
  }
  void put(Glyph glyph, int width);
  void print_one(char32_t code_point);
  void combine(char32_t code_point);
  bool join_cluster(char32_t code_point, uint8_t width);
  Cell* previous_cell(Row** row);

  // ops/cursor.cc
  int last_column() const;
  void move_to(int row, int col);
  void set_position(int row, int col);
  void cursor_left(int n);
  void index();
  void reverse_index();
  void carriage_return();
  void backspace();
  void line_feed(uint8_t control);
  void horizontal_tab();
  void save_cursor();
  void restore_cursor();

  // ops/scroll.cc
  enum class History : uint8_t { Keep, Drop };
  void leave(const Row& row);
  void scroll_one();
  void scroll_up(int top, int bottom, int n, History history);
  void scroll_down(int top, int bottom, int n);
  bool full_width() const { return left_ == 0 && right_ == grid_->cols() - 1; }
  bool in_margins() const {
    return cursor_.row >= top_ && cursor_.row <= bottom_ && cursor_.col >= left_ && cursor_.col <= right_;
  }
  void set_margins(int top, int bottom);
  void reset_margins();

  // ops/erase.cc, ops/rectangle.cc
  void erase_cells(int row, int from, int to, Respect respect);
  void erase_display(int how, Respect respect);
  void erase_line(int how, Respect respect);
  std::optional<Rect> rectangle(P params, unsigned first) const;
  template <typename Change>
  void change_styles(const Rect& rect, Change change);

  // ops/mode.cc
  void set_mode(const ModeRow& mode, bool on);
  void set_modes(P params, bool dec, bool on);
  void switch_screen(bool alternate);
  void set_columns_132(bool on);
  void report_size();
  void request_size(int cols, int rows);
  int mode_report(uint16_t number, bool dec) const;

  // ops/sgr.cc
  void apply_sgr(P params, Style& pen) const;

  // ops/report.cc
  void report_status_string(std::string_view what);
  void report_terminfo(std::string_view names);
  void reset_soft();
  void reset_hard();

  // osc/*.cc
  void osc_title(int code, std::string_view text);
  void osc_palette(int code, std::string_view data, Terminator terminator);
  void osc_reset_special(std::string_view data);
  void reset_special_color(int index);
  void osc_default_color(int code, std::string_view data, Terminator terminator);
  void osc_reset_palette(std::string_view data);
  void osc_reset_default_color(int code);
  void osc_hyperlink(std::string_view data);
  void osc_cwd(std::string_view uri);
  void osc_conemu(std::string_view data);
  void osc_iterm(std::string_view data);
  void osc_notify(std::string_view data);
  void osc_kitty_notify(std::string_view data);
  void osc_clipboard(std::string_view data);
  void osc_shell_mark(ShellMark::Protocol protocol, std::string_view data, uint64_t begin, uint64_t end);

  // One handler a sequence, named by mnemonic and in English; see sequence_table.cc.
  void ICH_InsertCharacters(P p);
  void CUU_CursorUp(P p);
  void CUD_CursorDown(P p);
  void CUF_CursorForward(P p);
  void CUB_CursorBackward(P p);
  void CNL_CursorNextLine(P p);
  void CPL_CursorPreviousLine(P p);
  void CHA_CursorColumn(P p);
  void CUP_CursorPosition(P p);
  void CHT_TabForward(P p);
  void ED_EraseDisplay(P p);
  void EL_EraseLine(P p);
  void DECSED_SelectiveEraseDisplay(P p);
  void DECSEL_SelectiveEraseLine(P p);
  void IL_InsertLines(P p);
  void DL_DeleteLines(P p);
  void DCH_DeleteCharacters(P p);
  void SU_ScrollUp(P p);
  void SD_ScrollDown(P p);
  void SD_ScrollDownOrTrack(P p);
  void SL_ScrollLeft(P p);
  void SR_ScrollRight(P p);
  void ECH_EraseCharacters(P p);
  void CBT_TabBackward(P p);
  void HPR_ColumnForward(P p);
  void REP_Repeat(P p);
  void VPA_CursorRow(P p);
  void VPR_RowForward(P p);
  void TBC_ClearTabs(P p);
  void DECST8C_SetTabsEveryEight(P p);
  void SM_SetMode(P p);
  void RM_ResetMode(P p);
  void DECSET_SetPrivateMode(P p);
  void DECRST_ResetPrivateMode(P p);
  void XTSAVE_SavePrivateModes(P p);
  void XTRESTORE_RestorePrivateModes(P p);
  void SGR_SelectGraphicRendition(P p);
  void XTPUSHSGR_PushStyle(P p);
  void XTPOPSGR_PopStyle(P p);
  void DECSTBM_SetTopBottomMargins(P p);
  void DECSLRM_SetLeftRightMargins(P p);
  void SCORC_RestoreCursor(P p);
  void DECSCUSR_CursorStyle(P p);
  void DECSCA_Protect(P p);
  void DECSCL_ConformanceLevel(P p);
  void DECSTR_SoftReset(P p);
  void DECIC_InsertColumns(P p);
  void DECDC_DeleteColumns(P p);
  void DECFRA_FillRectangle(P p);
  void DECERA_EraseRectangle(P p);
  void DECSERA_SelectiveEraseRectangle(P p);
  void DECCRA_CopyRectangle(P p);
  void DECCARA_ChangeAttributes(P p);
  void DECRARA_ReverseAttributes(P p);
  void DECSACE_AttributeExtent(P p);
  void DECRQCRA_ChecksumRectangle(P p);
  void XTWINOPS_Window(P p);
  void XTMODKEYS_SetModifierKeys(P p);
  void XTUNMODKEYS_ResetModifierKeys(P p);
  void XTQMODKEYS_QueryModifierKeys(P p);
  void KITTY_SetKeyboard(P p);
  void KITTY_PushKeyboard(P p);
  void KITTY_PopKeyboard(P p);
  void KITTY_QueryKeyboard(P p);
  void DA1_PrimaryAttributes(P p);
  void DA2_SecondaryAttributes(P p);
  void DA3_TertiaryAttributes(P p);
  void DSR_DeviceStatus(P p);
  void DECDSR_PrivateDeviceStatus(P p);
  void DECRQM_RequestMode(P p);
  void DECRQM_RequestPrivateMode(P p);
  void DECREQTPARM_TerminalParameters(P p);
  void DECSCPP_ColumnsPerPage(P p);
  void DECSNLS_LinesPerScreen(P p);
  void XTVERSION_Version(P p);
  void DECSC_SaveCursor(P p);
  void DECRC_RestoreCursor(P p);
  void IND_Index(P p);
  void NEL_NextLine(P p);
  void HTS_SetTab(P p);
  void RI_ReverseIndex(P p);
  void SS2_SingleShift(P p);
  void SS3_SingleShift(P p);
  void LS2_LockingShift(P p);
  void LS3_LockingShift(P p);
  void LS1R_LockingShiftRight(P p);
  void LS2R_LockingShiftRight(P p);
  void LS3R_LockingShiftRight(P p);
  void SPA_StartProtected(P p);
  void EPA_EndProtected(P p);
  void DECID_Identify(P p);
  void RIS_Reset(P p);
  void DECKPAM_ApplicationKeypad(P p);
  void DECKPNM_NumericKeypad(P p);
  void DECBI_BackIndex(P p);
  void DECFI_ForwardIndex(P p);
  void DECDHL_DoubleHeightTop(P p);
  void DECDHL_DoubleHeightBottom(P p);
  void DECSWL_SingleWidth(P p);
  void DECDWL_DoubleWidth(P p);
  void DECALN_AlignmentPattern(P p);
  void set_row_size(uint16_t flags);
  void designate_charset(const Sequence& sequence);

  // Constant after construction.
  const ScreenOptions options_;

  Parser parser_;
  StyleTable styles_;
  ClusterTable clusters_;
  LinkTable links_;
  Scrollback scrollback_;
  Side main_;
  std::optional<Side> alternate_;  // made when a program first switches to it
  Grid* grid_;                     // the one in use
  std::optional<Frozen> frozen_;   // the last complete frame, during synchronized output

  Seq seq_ = 1;
  Seq all_changed_ = 1;
  StableRow top_row_ = 0;  // rows that have scrolled away since the screen was made

  Cursor cursor_;
  Style pen_;
  StyleId pen_id_ = 0;
  bool pen_dirty_ = false;
  bool plain_ = true;  // ASCII can be written as it is: no insert mode, no charset, nothing to join
  int top_ = 0, bottom_ = 0, left_ = 0, right_ = 0;  // margins, inclusive
  ModeSet modes_ = ModeSet::initial();
  ModeSet saved_modes_ = ModeSet::initial();
  Charsets charset_;
  TabStops tabs_;
  Protection protection_ = Protection::Off;
  int attribute_extent_ =
      0;  // DECSACE as it was given; 2: attribute changes apply to the rectangle, else the stream
  static constexpr int kHighestLevel = 64;  // a VT420
  int conformance_level_ = kHighestLevel;
  CursorShape cursor_shape_ = CursorShape::Block;
  ModifyKeys modify_keys_;
  char32_t last_char_ = 0;  // for REP; 0 after any control
  GraphemeState grapheme_;

  std::string title_;
  std::string icon_title_;
  std::vector<std::pair<std::string, std::string>> title_stack_;
  std::vector<Style> style_stack_;
  Palette palette_;
  Progress progress_;

  std::string replies_;
  std::vector<Event> events_;
  uint64_t dropped_events_ = 0;
};

}  // namespace ttyward::vt
