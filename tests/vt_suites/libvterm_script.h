// An interpreter for libvterm's test scripts.
//
// Checked: the queries (?cursor, ?screen_row, …), `output`, `sb_pushline`, the
// last `movecursor` of a step, and `putglyph` by looking at the cell it names;
// ENCIN/encout against our decoder. Callbacks that only say how libvterm works
// inside (damage, moverect, scrollrect, erase, settermprop, sb_popline, …) are
// left, and so are the directives in `kNotInterpreted`.
#pragma once

#include <cstddef>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "vt/screen.h"

namespace ttyward::test {

class LibvtermScript {
 public:
  // Input encoding, selections and libvterm's own colours. What a script expects right after one of these is
  // left too.
  static constexpr std::string_view kNotInterpreted[] = {"INCHAR",   "INKEY", "PASTE",     "MOUSEMOVE",
                                                         "MOUSEBTN", "FOCUS", "SELECTION", "SETDEFAULTCOL"};

  // Runs a script; what differed, by line number.
  std::map<std::string, std::string> run(const std::string& path);
  size_t checks() const { return checks_; }

 private:
  void directive(const std::string& line);
  void expectation(const std::string& line);
  void query(const std::string& text);
  void finish_step();
  void expect(const std::string& wanted, const std::string& got);
  void forget_step();

  std::string screen_chars(const std::string& rectangle) const;
  std::string cell_text(int row, int col) const;
  std::string cell_description(int row, int col) const;
  std::string pen_value(const std::string& what) const;
  std::string line_info(int row) const;
  std::string attributes_extent(int row, int col) const;

  std::unique_ptr<vt::Screen> screen_;
  vt::Parser decoder_;  // of ENCIN, whose state lives from step to step
  bool wants_history_ = false;
  bool wants_parser_ = false;
  bool left_out_ = false;  // the current step is not interpreted
  int line_number_ = 0;
  // The step so far.
  int step_line_ = 0;
  std::string wanted_output_;
  int output_line_ = 0;
  int movecursor_line_ = 0;
  std::string wanted_cursor_;
  std::vector<std::pair<int, std::string>> wanted_pushes_;
  std::map<std::vector<int>, std::pair<int, std::string>> glyphs_;  // row, column -> line, text and width
  std::string wanted_code_points_;
  int encout_line_ = 0;
  std::string got_code_points_;
  size_t history_before_ = 0;
  size_t checks_ = 0;
  std::map<std::string, std::string> differences_;
};

}  // namespace ttyward::test
