// Bytes as they come from a pipe or socket, cut into lines: one message per line.
//
// A line that is too long is skipped to its end and reported once, in its place, so a conversation goes on
// after it. (The daemon's reader, wire/line_reader.h, gives the connection up instead: only our own programs
// talk to the daemon.)
//
// A value: no descriptor, no clock. Memory is bounded by the longest line plus what one push brought.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

namespace ttyward::rpc {

class LineReader {
 public:
  explicit LineReader(size_t largest) : largest_(largest) {}

  struct Line {
    std::string_view text;  // without its line end and blanks before it; valid until the next push
    bool too_long = false;  // there was a line of more than the limit; its text is gone
  };

  void push(std::string_view bytes);
  // The next whole line that is not empty.
  std::optional<Line> next();
  // After the last push: a last line without its line end counts, too.
  std::optional<Line> rest();
  size_t held() const { return buffer_.size() - begin_; }

 private:
  const size_t largest_;
  std::string buffer_;
  size_t begin_ = 0;       // of the first line that was not handed out
  size_t scanned_ = 0;     // there is no line end between begin_ and here
  bool skipping_ = false;  // inside a line that is too long, which was reported
};

}  // namespace ttyward::rpc
