// Lines of output that somebody has not looked at yet, also those still on the screen.
//
// Lines in their final form are visited once. Those on the screen may still change
// and are visited whenever they have; a line that goes on after the mark is
// visited with the length of what is already known of it.
// Borrows the output for each call only. Thread rule: the loop's.
#pragma once

#include <chrono>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "terminal/output.h"

namespace re2 {
class RE2;
}  // namespace re2

namespace ttyward::engine {

class LineScan {
 public:
  // Of a finished output everything is in the transcript; of another one the screen's lines come on top.
  enum class Finished : uint8_t { No, Yes };
  struct Line {
    terminal::LineNumber number = 0;  // 0: on an alternate screen, where lines have no number
    std::string_view text;
    size_t known = 0;             // bytes at its beginning that are not new
    std::optional<size_t> index;  // on the screen: which line of it, from 0
  };

  // Everything is new.
  LineScan() = default;
  // Only what comes after this moment is new.
  void mark_all(const terminal::Output& output, Finished finished);
  // What stands before byte `end` of that line is known, the rest is new. The line comes from a scan of the
  // output as it is now.
  void mark(const terminal::Output& output, const Line& line, size_t end);

  // Where the output ends now, in words that mean the same to another engine that reads the same bytes.
  struct Place {
    terminal::LineNumber line = 1;
    std::string text;  // of that line, as far as it was written
  };
  static Place end_of(const terminal::Output& output, Finished finished);
  // Only what comes after that place is new.
  void mark_place(const Place& place);

  // Visits in order until `visit` returns false. False: the time is over, and there is more.
  bool scan(const terminal::Output& output, Finished finished, const std::function<bool(const Line&)>& visit,
            std::chrono::steady_clock::time_point until = std::chrono::steady_clock::time_point::max());

 private:
  // Lines that were there at the mark.
  struct Known {
    terminal::LineNumber first = 1;  // main screen: the number of lines[0]
    std::vector<std::string> lines;
    bool open = false;  // the last of them was still being written
  };
  struct ScreenLine {
    std::string text;
    vt::Seq changed = 0;
    bool has_cursor = false;
  };
  static std::vector<ScreenLine> screen_lines(const vt::Screen& screen);
  static size_t known_of(const Known& known, size_t index, std::string_view text, bool touched);

  terminal::LineNumber next_ = 1;  // final lines before this were visited
  Known main_;
  Known alternate_;
  vt::Seq marked_ = 0;
  vt::Seq seen_ = 0;  // rows that have not changed since were visited
};

// A match in `line` that ends in what is new of it: where it ends.
std::optional<size_t> match_new(const re2::RE2& pattern, const LineScan::Line& line);

// A pattern as people give it; the error says what is wrong with it.
base::Result<std::unique_ptr<re2::RE2>> compile_pattern(const std::string& pattern);

}  // namespace ttyward::engine
