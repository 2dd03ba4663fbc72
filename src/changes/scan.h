// Reads the upper layer of an overlay as a list of changes.
//
// What the kernel leaves there (Documentation/filesystems/overlayfs.rst): a file or link that was made or
// changed, whole; a folder in which something changed, or that is new; for what was deleted a character
// device 0:0, or an empty file with the attribute overlay.whiteout in a folder marked overlay.opaque=x; and
// overlay.opaque=y on a folder that hides all the lower one has. The attributes are in user.* or trusted.*.
// Folders that are renamed are copied, because redirect_dir is off.
//
// A file that was copied up but is the same as before is no change; a new time alone is none either.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/result.h"
#include "changes/entry.h"

namespace ttyward::changes {

struct ScanOptions {
  // When the layer was mounted: what changed in the workspace after it was not what the command saw.
  int64_t began_ns = 0;
  std::vector<std::string> protected_paths;  // as in Info
  uint64_t most_entries = 500'000;
  // A file larger than this is not compared by lines, nor hashed.
  uint64_t largest_compared = uint64_t{4} << 20;
  // Bytes read for lines and hashes, all together; what comes later has no counts.
  uint64_t most_read = uint64_t{512} << 20;
};

// Sorted by path, so that a folder comes before what is in it.
base::Result<std::vector<Entry>> scan(int upper, int workspace, const ScanOptions& options);

// What tells whether the thing at `path` is the one that was seen: the hash of a file's content, a link's
// target, or a folder's listing with all below it. Empty: too large, or nothing is there.
std::string fingerprint(int root, const std::string& path, const Node& node, uint64_t largest);

}  // namespace ttyward::changes
