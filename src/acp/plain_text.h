// What a terminal printed, as text that only grows.
//
// Agents poll a terminal's output and take what is behind the length they have seen, so text that was handed
// out never changes while it is complete. Escape sequences are left out, a line end is one line feed, and a
// line that is drawn over (a progress bar) is handed out once, as it is when it ends. What stands on an
// unfinished line is handed out by settle(); if the line is drawn over after that, its new form follows as a
// line of its own.
//
// Only the last `limit` bytes are kept, cut where a character begins: never half a character, in UTF-8 or in
// UTF-16.
//
// A value; no clock, no descriptor.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "vt/parser.h"

namespace ttyward::acp {

class PlainText {
 public:
  explicit PlainText(size_t limit) : limit_(limit) {}

  void feed(std::string_view bytes);
  // Hands out the unfinished line as it is now.
  void settle();
  // Bytes are missing here: what was kept does not connect to what comes.
  void skip();

  // Keeps at most this much from now on.
  void shrink(size_t limit);

  // What was handed out: at most `limit` bytes.
  std::string_view text() const;
  // The same, which is not kept any more.
  std::string take();
  bool truncated() const { return truncated_; }
  uint64_t lines() const { return lines_; }

 private:
  struct Sink;
  void put(char32_t point);
  void end_line();
  void hand_out(std::string_view text);
  void trim();

  size_t limit_;
  vt::Parser parser_;
  std::string text_;
  size_t begin_ = 0;     // of what is kept of text_
  std::u32string line_;  // the unfinished one
  size_t column_ = 0;    // where the next character goes
  std::string handed_;   // what was handed out of the unfinished line
  bool truncated_ = false;
  uint64_t lines_ = 0;
};

}  // namespace ttyward::acp
