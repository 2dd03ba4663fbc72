// A terminal of the daemon's, drawn on a person's terminal: what changed, cut to the size there is,
// with a line of ours at the bottom.
//
// What arrives is rows of text and how they look (wire::ScreenDelta), so nothing the program printed
// reaches the person's terminal as it was: no question that their terminal would answer, no change of
// what is not ours. Of the modes only those that decide how keys and the mouse are sent are passed on.
// A value; no descriptor, no thread.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "cli/screen_copy.h"

namespace ttyward::cli {

class ScreenPainter {
 public:
  enum class Input : uint8_t { Ours, Nobodys };  // whether keys go to the program

  // Before the first paint, and after the last.
  static std::string enter();
  static std::string leave();

  void apply(const wire::ScreenDelta& delta);
  bool has_screen() const { return screen_.has_value(); }
  // The person's terminal shows something else now: the next paint draws everything.
  void forget();

  // Bytes for a terminal of this size; `status` is its last row. A screen that is larger is shown around
  // the cursor, a smaller one at the top left.
  std::string paint(int cols, int rows, const std::string& status, Input input);

 private:
  std::string mode_changes(Input input);
  std::string cursor(int cols, int rows) const;

  std::optional<ScreenCopy> screen_;
  int cols_ = 0;
  int rows_ = 0;
  int top_ = 0;                     // of the screen's rows, the one painted first
  int left_ = 0;                    // the same for columns
  std::vector<std::string> shown_;  // rows, as they were last drawn
  vt::ModeSet modes_;               // those passed on
  int kitty_flags_ = 0;
  int modify_other_keys_ = 0;
};

// The row's columns from `from` on as bytes for a terminal of `cols` columns. Ends with the default style.
std::string row_bytes(const vt::Line& line, int from, int cols);

}  // namespace ttyward::cli
