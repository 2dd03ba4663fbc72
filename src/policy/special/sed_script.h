// What a sed script does beyond editing the stream.
//
// Reads the script by sed's grammar. Where GNU sed, busybox and BSD sed disagree, or anything is unexpected,
// the script is not understood. Total: every text has an answer.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace ttyward::policy::special {

struct SedScript {
  std::string problem;              // empty: understood, and it runs nothing
  std::vector<std::string> reads;   // r and R
  std::vector<std::string> writes;  // w, W and the flag w of s
  std::vector<std::string> runs;    // e, and what the flag e of s runs

  bool operator==(const SedScript&) const = default;
};

SedScript read_sed_script(std::string_view text);

}  // namespace ttyward::policy::special
