// The promise of a digest, for tests and the fuzzer.
#pragma once

#include <algorithm>
#include <cstdint>
#include <string_view>

#include "digest/digest.h"
#include "digest/line_scan.h"

namespace ttyward::digest {

inline uint64_t alarms_in(std::string_view text) {
  uint64_t alarms = 0;
  while (!text.empty()) {
    const std::string_view line = text.substr(0, text.find('\n'));
    text.remove_prefix(std::min(text.size(), line.size() + 1));
    alarms += is_alarm(line) ? 1 : 0;
  }
  return alarms;
}

// Lines that tell of an error and are shown, or counted in a fold that is shown. Must equal alarms_in().
inline uint64_t alarms_accounted(const Digest& digest) {
  uint64_t alarms = 0;
  for (const Piece& piece : digest.pieces) {
    if (piece.kind == Piece::Kind::Text || piece.kind == Piece::Kind::Fold) alarms += piece.alarms;
  }
  return alarms;
}

// Lines that tell of an error and are neither shown nor counted where a line like them is. Must be 0.
inline uint64_t alarms_hidden(std::string_view text, const Digest& digest) {
  uint64_t hidden = 0;
  for (uint64_t number = 1; !text.empty(); ++number) {
    const std::string_view line = text.substr(0, text.find('\n'));
    text.remove_prefix(std::min(text.size(), line.size() + 1));
    if (!is_alarm(line)) continue;
    hidden += std::any_of(digest.pieces.begin(), digest.pieces.end(),
                          [&](const Piece& piece) {
                            return piece.alarms > 0 && piece.first_line <= number &&
                                   number <= piece.last_line && is_alarm(piece.text);
                          })
                  ? 0
                  : 1;
  }
  return hidden;
}

}  // namespace ttyward::digest
