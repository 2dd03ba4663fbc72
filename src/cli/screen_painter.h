// A terminal of the daemon's, drawn on a person's terminal: what changed, cut to the size there is,
// with a line of ours at the bottom.
//
// What the program printed goes through an emulator of our own, so that nothing in it
// reaches the person's terminal as it is: no question that their terminal would
// answer, no change of what is not ours. Of the modes only those that decide
// how keys and the mouse are sent are passed on. A value; no descriptor, no thread.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "vt/screen.h"

namespace ttyward::cli {

class ScreenPainter {
 public:
  enum class Input : uint8_t { Ours, Nobodys };  // whether keys go to the program

  // Before the first paint, and after the last.
  static std::string enter();
  static std::string leave();

  // Another screen, drawn by `ansi`.
  void reset(int cols, int rows, std::string_view ansi);
  void resize(int cols, int rows);
  void feed(std::string_view ansi);
  // The person's terminal shows something else now: the next paint draws everything.
  void forget();

  // Bytes for a terminal of this size; `status` is its last row.
  std::string paint(int cols, int rows, const std::string& status, Input input);

  const vt::Screen* screen() const { return screen_.get(); }

 private:
  std::string mode_changes(Input input);
  std::string cursor(int cols, int rows, int top) const;

  std::unique_ptr<vt::Screen> screen_;
  int cols_ = 0;
  int rows_ = 0;
  std::vector<std::string> shown_;  // rows, as they were last drawn
  vt::ModeSet modes_;               // those passed on
  vt::KeyboardState keyboard_;
  std::string title_;
  bool bell_ = false;
};

// The row as bytes for a terminal of `cols` columns, from its first column on. Ends with the default style.
std::string row_bytes(const vt::Line& line, int cols);

}  // namespace ttyward::cli
