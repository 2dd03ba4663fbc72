// What a recording of a terminal or of one of its commands is made of: bytes, and when they came.
//
// Thread rule: the loop's.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "engine/read.h"

namespace ttyward::engine {

struct RecordedMark {
  enum class Kind : uint8_t { Time, Resize, Gap };
  Kind kind = Kind::Time;
  uint64_t offset = 0;  // from here on
  uint64_t at_us = 0;   // since the journal was made
  uint16_t cols = 0;    // Resize
  uint16_t rows = 0;
  uint64_t bytes = 0;  // Gap
  std::optional<uint64_t> newlines;
};

struct RecordedPart {
  uint64_t created_at_us = 0;  // since the epoch
  uint64_t begin = 0;          // of the whole source, in the journal
  uint64_t end = 0;
  uint64_t next = 0;  // where this part ends
  std::string bytes;  // those that are there
  std::vector<RecordedMark> marks;
};

// From `offset` of the journal on, or from the source's first byte. That one also gets the time and the size
// that hold there. A mark at the very end belongs to the last part. At most kMostRawBytes.
base::Result<RecordedPart> read_recording(const OutputSource& source, std::optional<uint64_t> offset,
                                          size_t most);

}  // namespace ttyward::engine
