// Lines too long to be read whole: a part of each, by columns.
#include <fmt/format.h>

#include <algorithm>

#include "engine/read.h"

namespace ttyward::engine {
namespace {

bool begins_character(char byte) {
  return (static_cast<unsigned char>(byte) & 0xC0) != 0x80;
}

// The characters [first, last] of a line, and how many it has.
std::string_view columns_of(std::string_view line, uint64_t first, uint64_t last, uint64_t* length) {
  uint64_t column = 0;
  size_t begin = line.size();
  size_t end = line.size();
  for (size_t i = 0; i < line.size(); i++) {
    if (!begins_character(line[i])) continue;
    ++column;
    if (column == first) begin = i;
    if (column == last + 1) end = i;
  }
  *length = column;
  return line.substr(begin, std::max(begin, end) - begin);
}

}  // namespace

base::Result<ReadResult> read_columns(const OutputSource& source, terminal::LineNumber from,
                                      terminal::LineNumber to, uint64_t first, uint64_t last,
                                      const terminal::ViewLimits& view) {
  ReadResult result;
  result.total_bytes = source.total_bytes();
  result.binary = source.binary();
  if (result.binary) {
    result.text = fmt::format("[binary output: {} bytes, not shown]\n", result.total_bytes);
    return result;
  }
  const uint64_t most_chars = view.chars == 0 ? UINT64_MAX : view.chars;
  const uint64_t most_lines = view.lines == 0 ? UINT64_MAX : view.lines;
  uint64_t shown_lines = 0;
  result.longest_line = 0;
  source.with_lines([&](const OutputSource::Lines& lines) {
    result.total_lines = lines.all.size();
    if (from > result.total_lines) return;
    lines.all.forward(from, [&](const terminal::Transcript::Entry& entry) {
      for (terminal::LineNumber n = std::max(entry.first, from); n < entry.first + entry.repeat && n <= to;
           n++) {
        if (shown_lines == most_lines || result.text.size() >= most_chars) {
          result.more = true;
          return false;
        }
        uint64_t length = 0;
        const uint64_t room = most_chars - result.text.size();
        const uint64_t wanted_end = last - first >= room ? first + room - 1 : last;
        const std::string_view part = columns_of(entry.text, first, wanted_end, &length);
        result.longest_line = std::max(*result.longest_line, length);
        result.more = result.more || (wanted_end < last && wanted_end < length);
        result.text.append(part).append("\n");
        if (result.first_line == 0) result.first_line = n;
        result.last_line = n;
        ++shown_lines;
      }
      return entry.first + entry.repeat <= to;
    });
    result.more = result.more || *result.longest_line > last;
  });
  return result;
}

}  // namespace ttyward::engine
