// Bytes as they come from a socket, cut into lines.
//
// A value: no descriptor, no clock. Memory is bounded by the longest line allowed
// plus what one push brought.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

namespace ttyward::wire {

// Longest line either side may send, without its line end.
inline constexpr size_t kLargestLine = size_t{16} << 20;

class LineReader {
 public:
  explicit LineReader(size_t largest = kLargestLine) : largest_(largest) {}

  void push(std::string_view bytes);
  // The next whole line, without its line end.
  std::optional<std::string> next();

  // A line went over the limit; there is no next() any more.
  bool too_long() const { return too_long_; }
  // Bytes kept.
  size_t held() const { return buffer_.size() - begin_; }
  void set_largest(size_t largest) { largest_ = largest; }

 private:
  size_t largest_;
  std::string buffer_;
  size_t begin_ = 0;    // of the first line that was not handed out
  size_t scanned_ = 0;  // no line end between begin_ and here
  bool too_long_ = false;
};

}  // namespace ttyward::wire
