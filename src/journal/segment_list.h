// Which further segments a journal has.
#pragma once

#include <string>
#include <vector>

#include "base/result.h"
#include "journal/format.h"

namespace ttyward::journal {

// Those in the journal's own folder, in order of offset, then number: all but the first, which is in `main`.
base::Result<std::vector<SegmentName>> list_segments(int dir, const std::string& shown);

}  // namespace ttyward::journal
