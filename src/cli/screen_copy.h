// A terminal's screen as `attach` tells it: rows by their stable numbers. A value.
#pragma once

#include <cstdint>
#include <map>

#include "vt/line.h"
#include "vt/modes.h"
#include "wire/types/screen.h"

namespace ttyward::cli {

class ScreenCopy {
 public:
  void apply(const wire::ScreenDelta& delta);

  int cols() const { return cols_; }
  int rows() const { return rows_; }
  // Of a row of the screen, from 0.
  const vt::Line& line(int row) const;
  const wire::ScreenCursor& cursor() const { return cursor_; }
  const vt::ModeSet& modes() const { return modes_; }
  int kitty_flags() const { return kitty_flags_; }
  int modify_other_keys() const { return modify_other_keys_; }

 private:
  int cols_ = 0;
  int rows_ = 0;
  uint64_t first_row_ = 0;
  std::map<uint64_t, vt::Line> lines_;  // by stable number
  wire::ScreenCursor cursor_;
  vt::ModeSet modes_;
  int kitty_flags_ = 0;
  int modify_other_keys_ = 0;
};

}  // namespace ttyward::cli
