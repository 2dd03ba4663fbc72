// A journal made ahead: its first file has its space, is mapped and locked, but has no name and no header
// yet. Writer::create gives it both, which takes a tenth of the time of making one. Until then nobody can
// find it, and it is not counted in the folder's total.
#pragma once

#include <utility>

#include "base/result.h"
#include "journal/folder.h"
#include "journal/segment.h"

namespace ttyward::journal {

class Blank {
 public:
  // Fails with Unsupported where the file system has no files without a name.
  static base::Result<Blank> make(const Folder& folder);

  Segment take() && { return std::move(segment_); }

 private:
  explicit Blank(Segment segment) : segment_(std::move(segment)) {}

  Segment segment_;
};

}  // namespace ttyward::journal
