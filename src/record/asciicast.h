// asciicast, the format of asciinema: a header and one event per line, as JSON. Versions 2 and 3.
//
// https://docs.asciinema.org/manual/asciicast/v3/ and …/v2/. Version 2 has times since the beginning, version
// 3 since the event before; only version 3 has the exit status.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>

#include "base/result.h"
#include "record/recording.h"

namespace ttyward::record {

using Sink = std::function<void(std::string_view)>;

enum class CastVersion : uint8_t { V2 = 2, V3 = 3 };

void write_asciicast(const Recording& recording, CastVersion version, const Sink& sink);

// Whether a file that begins like this may be an asciicast: an object with a version on its first line.
bool looks_like_cast(std::string_view beginning);

// Reads an asciicast line by line. Input events and those of unknown kinds are passed over.
class CastReader {
 public:
  // A longer line is refused, and so is a larger screen than the emulator has.
  static constexpr size_t kLongestLine = size_t{64} << 20;

  // Any piece of the file. An error says in which line what is wrong; the reader is of no use after it.
  base::Result<void> feed(std::string_view bytes,
                          const std::function<base::Result<void>(const Event&)>& event);
  // The file ends here.
  base::Result<void> finish(const std::function<base::Result<void>(const Event&)>& event);

  // Known once the first line was read.
  const std::optional<Header>& header() const { return header_; }

 private:
  base::Result<void> line(std::string_view text,
                          const std::function<base::Result<void>(const Event&)>& event);
  base::Result<void> read_header(std::string_view text);

  std::string pending_;  // a line that has not ended
  uint64_t number_ = 0;  // of the line, from 1
  CastVersion version_ = CastVersion::V3;
  uint64_t now_us_ = 0;
  std::optional<Header> header_;
};

}  // namespace ttyward::record
