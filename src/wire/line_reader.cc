#include "wire/line_reader.h"

#include <utility>

namespace ttyward::wire {

void LineReader::push(std::string_view bytes) {
  if (too_long_) return;
  if (begin_ > 0 && begin_ >= buffer_.size() / 2) {
    buffer_.erase(0, begin_);
    scanned_ -= begin_;
    begin_ = 0;
  }
  buffer_.append(bytes);
}

std::optional<std::string> LineReader::next() {
  if (too_long_) return std::nullopt;
  const size_t end = buffer_.find('\n', scanned_);
  const size_t length = (end == std::string::npos ? buffer_.size() : end) - begin_;
  if (length > largest_) {
    too_long_ = true;
    buffer_ = {};
    begin_ = scanned_ = 0;
    return std::nullopt;
  }
  if (end == std::string::npos) {
    scanned_ = buffer_.size();
    return std::nullopt;
  }
  std::string line;
  if (begin_ == 0 && end + 1 == buffer_.size()) {  // the usual case: one line, and nothing after it
    line = std::exchange(buffer_, {});
    line.pop_back();
    begin_ = scanned_ = 0;
  } else {
    line = buffer_.substr(begin_, length);
    begin_ = scanned_ = end + 1;
  }
  return line;
}

}  // namespace ttyward::wire
