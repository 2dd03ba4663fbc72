#include "rpc/line_reader.h"

#include <utility>

namespace ttyward::rpc {
namespace {

std::string_view without_end(std::string_view line) {
  while (!line.empty() && (line.back() == '\r' || line.back() == ' ')) line.remove_suffix(1);
  return line;
}

}  // namespace

void LineReader::push(std::string_view bytes) {
  buffer_.erase(0, begin_);
  scanned_ -= begin_;
  begin_ = 0;
  buffer_ += bytes;
}

std::optional<LineReader::Line> LineReader::next() {
  for (;;) {
    const size_t end = buffer_.find('\n', scanned_);
    const bool whole = end != std::string::npos;
    const size_t size = (whole ? end : buffer_.size()) - begin_;
    const std::string_view text = std::string_view(buffer_).substr(begin_, size);
    scanned_ = whole ? end + 1 : buffer_.size();
    const bool was_skipping = skipping_;
    const bool too_long = !was_skipping && size > largest_;
    skipping_ = !whole && (was_skipping || too_long);
    if (whole || skipping_) begin_ = scanned_;
    if (too_long) return Line{{}, true};
    if (!whole) return std::nullopt;
    if (was_skipping) continue;
    if (const std::string_view line = without_end(text); !line.empty()) return Line{line, false};
  }
}

std::optional<LineReader::Line> LineReader::rest() {
  if (auto line = next()) return line;
  const std::string_view line = without_end(std::string_view(buffer_).substr(begin_));
  begin_ = scanned_ = buffer_.size();
  if (std::exchange(skipping_, false) || line.empty()) return std::nullopt;
  return Line{line, false};
}

}  // namespace ttyward::rpc
