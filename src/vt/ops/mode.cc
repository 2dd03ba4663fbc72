// Setting and resetting modes, and what some of them do at that moment.
#include <fmt/format.h>

#include "vt/screen.h"

namespace ttyward::vt {

void Screen::set_modes(P p, bool dec, bool on) {
  for (unsigned i = 0; i < p.size(); i++) {
    if (const ModeRow* row = find_mode(p[i], dec)) set_mode(*row, on);
  }
}

void Screen::SM_SetMode(P p) {
  set_modes(p, false, true);
}
void Screen::RM_ResetMode(P p) {
  set_modes(p, false, false);
}
void Screen::DECSET_SetPrivateMode(P p) {
  set_modes(p, true, true);
}
void Screen::DECRST_ResetPrivateMode(P p) {
  set_modes(p, true, false);
}

void Screen::set_mode(const ModeRow& row, bool on) {
  const bool was = modes_.has(row.mode);
  switch (row.mode) {
    case Mode::Columns132:
      set_columns_132(on);
      return;
    case Mode::LeftRightMargins:
      if (conformance_level_ < 64) return;  // a VT420's
      break;
    case Mode::AlternateScreen47:
      switch_screen(on);
      return;
    case Mode::AlternateScreen1047:
      if (!on && !on_main()) {
        for (int r = 0; r < grid_->rows(); r++) grid_->clear(grid_->row(r), 0);
        cursor_.pending_wrap = false;
      }
      switch_screen(on);
      return;
    case Mode::SavedCursor1048:
      modes_.assign(row.mode, on);
      on ? save_cursor() : restore_cursor();
      return;
    case Mode::AlternateScreen1049:
      // Also where nothing is left to switch: setting it twice saves and clears twice.
      if (on) {
        save_cursor();
        switch_screen(true);
        erase_display(2, Respect::Nothing);
      } else {
        switch_screen(false);
        restore_cursor();
      }
      return;
    case Mode::SynchronizedOutput:
      modes_.assign(row.mode, on);
      if (on && !was) freeze();
      if (!on) frozen_.reset();
      return;
    default:
      break;
  }
  modes_.assign(row.mode, on);
  switch (row.mode) {
    case Mode::Insert:
      update_plain();
      break;
    case Mode::Origin:
      set_position(0, 0);
      break;
    case Mode::LeftRightMargins:
      if (!on) {
        left_ = 0;
        right_ = grid_->cols() - 1;
      } else {  // rows of double size and margins exclude each other
        for (int r = 0; r < grid_->rows(); r++) grid_->row(r).unset(Row::kSizeFlags);
      }
      break;
    case Mode::ReverseVideo:
      all_changed_ = seq_;
      break;
    case Mode::InBandResize:
      if (on) report_size();
      break;
    case Mode::GraphemeClusters:
      grapheme_.reset();
      break;
    // One kind of mouse tracking and one way to encode it at a time.
    case Mode::MouseX10:
    case Mode::MousePress:
    case Mode::MouseHighlight:
    case Mode::MouseDrag:
    case Mode::MouseAny:
      for (const Mode other :
           {Mode::MouseX10, Mode::MousePress, Mode::MouseHighlight, Mode::MouseDrag, Mode::MouseAny}) {
        if (other != row.mode) modes_.assign(other, false);
      }
      break;
    case Mode::MouseUtf8:
    case Mode::MouseSgr:
    case Mode::MouseUrxvt:
    case Mode::MousePixels:
      for (const Mode other : {Mode::MouseUtf8, Mode::MouseSgr, Mode::MouseUrxvt, Mode::MousePixels}) {
        if (other != row.mode) modes_.assign(other, false);
      }
      break;
    default:
      break;
  }
}

// The cursor is shared by both screens; saved cursors and keyboard flags are not.
void Screen::switch_screen(bool alternate) {
  if (alternate == !on_main()) return;
  if (alternate && !alternate_) alternate_.emplace(Side{Grid(grid_->rows(), grid_->cols()), {}, {}});
  grid_ = alternate ? &alternate_->grid : &main_.grid;
  for (const Mode mode : {Mode::AlternateScreen47, Mode::AlternateScreen1047, Mode::AlternateScreen1049}) {
    modes_.assign(mode, alternate);
  }
  all_changed_ = seq_;
  touch_rows(0, grid_->rows() - 1);
}

// DECCOLM works only where ?40 allows it. Whether the window follows is the owner's decision.
void Screen::set_columns_132(bool on) {
  if (!modes_.has(Mode::Allow132)) return;
  modes_.assign(Mode::Columns132, on);
  reset_margins();
  modes_.assign(Mode::LeftRightMargins, false);
  erase_display(2, Respect::Nothing);
  move_to(0, 0);
  const int cols = on ? 132 : 80;
  if (options_.conformance) {
    resize(cols, grid_->rows());
  } else {
    report(ResizeRequested{cols, grid_->rows(), ResizeRequested::By::ColumnMode});
  }
}

void Screen::XTSAVE_SavePrivateModes(P p) {
  for (unsigned i = 0; i < p.size(); i++) {
    if (const ModeRow* row = find_mode(p[i], true)) saved_modes_.assign(row->mode, modes_.has(row->mode));
  }
}

void Screen::XTRESTORE_RestorePrivateModes(P p) {
  for (unsigned i = 0; i < p.size(); i++) {
    const ModeRow* row = find_mode(p[i], true);
    if (row != nullptr && modes_.has(row->mode) != saved_modes_.has(row->mode)) {
      set_mode(*row, saved_modes_.has(row->mode));
    }
  }
}

void Screen::DECKPAM_ApplicationKeypad(P) {
  modes_.assign(Mode::ApplicationKeypad, true);
}
void Screen::DECKPNM_NumericKeypad(P) {
  modes_.assign(Mode::ApplicationKeypad, false);
}

void Screen::XTMODKEYS_SetModifierKeys(P p) {
  if (p.size() == 0) {
    modify_keys_ = {};
  } else if (p[0] < modify_keys_.values.size()) {
    modify_keys_.values[p[0]] = static_cast<int8_t>(p[1] <= 3 ? p[1] : 0);
  }
}

void Screen::XTUNMODKEYS_ResetModifierKeys(P p) {
  const unsigned which = p.size() == 0 ? 2 : p[0];
  if (which < modify_keys_.values.size()) modify_keys_.values[which] = 0;
}

void Screen::XTQMODKEYS_QueryModifierKeys(P p) {
  if (p[0] < modify_keys_.values.size()) reply(fmt::format("\033[>{};{}m", p[0], modify_keys_.values[p[0]]));
}

void Screen::KITTY_SetKeyboard(P p) {
  KittyFlags& flags = side().kitty;
  const auto asked = static_cast<uint8_t>(p[0] & KittyFlags::kAll);
  switch (p.get(1, 1)) {
    case 1:
      flags.assign(asked);
      break;
    case 2:
      flags.assign(flags.current() | asked);
      break;
    case 3:
      flags.assign(static_cast<uint8_t>(flags.current() & ~asked));
      break;
    default:
      break;
  }
}

void Screen::KITTY_PushKeyboard(P p) {
  side().kitty.push(static_cast<uint8_t>(p[0] & KittyFlags::kAll));
}
void Screen::KITTY_PopKeyboard(P p) {
  side().kitty.pop(static_cast<unsigned>(p.get(0, 1)));
}
void Screen::KITTY_QueryKeyboard(P) {
  reply(fmt::format("\033[?{}u", side().kitty.current()));
}

// --- character sets

void Screen::designate_charset(const Sequence& s) {
  const char which = s.intermediates[0];
  const bool has_96 = which == '-' || which == '.' || which == '/';
  const unsigned slot = which == '('                   ? 0
                        : which == ')' || which == '-' ? 1
                        : which == '*' || which == '.' ? 2
                                                       : 3;
  charset_.sets[slot] = charset_for(s.intermediates[1], s.final, has_96);
  update_plain();
}

void Screen::SS2_SingleShift(P) {
  charset_.single_shift = 2;
  update_plain();
}
void Screen::SS3_SingleShift(P) {
  charset_.single_shift = 3;
  update_plain();
}
void Screen::LS2_LockingShift(P) {
  charset_.left = 2;
  update_plain();
}
void Screen::LS3_LockingShift(P) {
  charset_.left = 3;
  update_plain();
}
void Screen::LS1R_LockingShiftRight(P) {
  charset_.right = 1;
}
void Screen::LS2R_LockingShiftRight(P) {
  charset_.right = 2;
}
void Screen::LS3R_LockingShiftRight(P) {
  charset_.right = 3;
}

}  // namespace ttyward::vt
