// What decides how keys become bytes: the kitty protocol's flags and xterm's modifyOtherKeys.
#pragma once

#include <array>
#include <cstdint>

#include "vt/modes.h"

namespace ttyward::vt {

// https://sw.kovidgoyal.net/kitty/keyboard-protocol/ — a stack of flag sets; one per screen.
class KittyFlags {
 public:
  static constexpr uint8_t kDisambiguate = 1;
  static constexpr uint8_t kEventTypes = 2;
  static constexpr uint8_t kAlternates = 4;
  static constexpr uint8_t kAllKeys = 8;
  static constexpr uint8_t kText = 16;
  static constexpr uint8_t kAll = 31;
  static constexpr unsigned kMaxDepth = 16;  // pushing more drops the oldest

  uint8_t current() const { return depth_ == 0 ? base_ : stack_[depth_ - 1]; }
  void assign(uint8_t flags) { (depth_ == 0 ? base_ : stack_[depth_ - 1]) = flags & kAll; }
  void push(uint8_t flags) {
    if (depth_ == kMaxDepth) {
      for (unsigned i = 1; i < kMaxDepth; i++) stack_[i - 1] = stack_[i];
      depth_--;
    }
    stack_[depth_++] = flags & kAll;
  }
  void pop(unsigned n) {
    if (n > depth_) {
      clear();
    } else {
      depth_ -= n;
    }
  }
  void clear() { *this = KittyFlags(); }

 private:
  std::array<uint8_t, kMaxDepth> stack_{};
  unsigned depth_ = 0;
  uint8_t base_ = 0;
};

// XTMODKEYS resources 0 to 7; index 4 is modifyOtherKeys.
struct ModifyKeys {
  std::array<int8_t, 8> values{};
  int other_keys() const { return values[4]; }
};

// Everything the input encoder has to know.
struct KeyboardState {
  bool application_cursor_keys = false;
  bool application_keypad = false;
  bool backspace_sends_bs = false;
  bool bracketed_paste = false;
  bool line_feed_new_line = false;
  int modify_other_keys = 0;
  uint8_t kitty_flags = 0;
};

}  // namespace ttyward::vt
