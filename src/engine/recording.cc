#include "engine/recording.h"

#include <algorithm>

namespace ttyward::engine {
namespace {

using journal::Mark;

std::optional<RecordedMark> recorded(const Mark& mark) {
  RecordedMark out;
  out.offset = mark.offset;
  out.at_us = mark.time_us();
  switch (mark.kind()) {
    case Mark::Kind::Time:
    case Mark::Kind::Stream:
      return out;
    case Mark::Kind::Resize:
      out.kind = RecordedMark::Kind::Resize;
      out.cols = static_cast<uint16_t>(mark.value >> 16);
      out.rows = static_cast<uint16_t>(mark.value);
      return out;
    case Mark::Kind::Input:
    case Mark::Kind::Secret:
      break;  // what was typed is in no recording, not even how much
  }
  return std::nullopt;
}

// The time and the size that hold at `offset`, as marks there.
void add_situation(const std::vector<Mark>& before, uint64_t offset, std::vector<RecordedMark>& marks) {
  std::optional<RecordedMark> size;
  RecordedMark time;
  for (const Mark& each : before) {
    const auto mark = recorded(each);
    if (!mark) continue;
    if (mark->kind == RecordedMark::Kind::Resize) size = mark;
    time.at_us = std::max(time.at_us, mark->at_us);
  }
  time.offset = offset;
  if (size) {
    size->offset = offset;
    size->at_us = time.at_us;
    marks.push_back(*size);
  }
  marks.push_back(time);
}

}  // namespace

base::Result<RecordedPart> read_recording(const OutputSource& source, std::optional<uint64_t> offset,
                                          size_t most) {
  auto reader = source.terminal().open_journal();
  if (!reader) return tl::unexpected(reader.error());
  RecordedPart part;
  part.created_at_us = reader->created_unix_ns() / 1000;
  part.begin = source.begin();
  part.end = source.end();
  const uint64_t from = std::clamp(offset.value_or(part.begin), part.begin, part.end);
  if (!offset && from > 0) {
    auto before = reader->marks({0, from});
    if (!before) return tl::unexpected(before.error());
    // Those right at the beginning come below.
    std::erase_if(*before, [&](const Mark& mark) { return mark.offset >= from; });
    add_situation(*before, from, part.marks);
  }
  uint64_t at = from;
  std::vector<RecordedMark> gaps;
  part.bytes.resize(std::min<uint64_t>({most, kMostRawBytes, part.end - from}));
  size_t filled = 0;
  while (at < part.end && filled < part.bytes.size()) {
    const size_t room = std::min<uint64_t>(part.bytes.size() - filled, part.end - at);
    const auto chunk = reader->read(at, std::as_writable_bytes(std::span(part.bytes.data() + filled, room)));
    if (!chunk) return tl::unexpected(chunk.error());
    if (chunk->bytes == 0 && chunk->gap == 0) break;
    if (chunk->gap > 0) {
      RecordedMark gap;
      gap.kind = RecordedMark::Kind::Gap;
      gap.offset = at;
      gap.bytes = std::min(chunk->gap, part.end - at);
      if (gap.bytes == chunk->gap) gap.newlines = chunk->newlines;
      gaps.push_back(gap);
      at += gap.bytes;
    } else {
      at += chunk->bytes;
      filled += chunk->bytes;
    }
  }
  part.bytes.resize(filled);
  part.next = at;
  const auto marks = reader->marks({from, at});
  if (!marks) return tl::unexpected(marks.error());
  const bool last = at >= part.end;
  auto gap = gaps.begin();
  for (const Mark& each : *marks) {
    const auto mark = recorded(each);
    if (!mark || (mark->offset >= at && !last) || mark->offset < from) continue;
    for (; gap != gaps.end() && gap->offset <= mark->offset; ++gap) part.marks.push_back(*gap);
    part.marks.push_back(*mark);
  }
  part.marks.insert(part.marks.end(), gap, gaps.end());
  return part;
}

}  // namespace ttyward::engine
