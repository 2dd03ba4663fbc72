#include "journal/segment_list.h"

#include <dirent.h>
#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>

namespace ttyward::journal {

base::Result<std::vector<SegmentName>> list_segments(int dir, const std::string& shown) {
  std::vector<SegmentName> names;
  const int copy = ::openat(dir, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  // A journal that was removed while it was open has no listing any more.
  if (copy < 0 && errno == ENOENT) return names;
  if (copy < 0) return base::fail_errno(errno, "cannot list " + shown);
  DIR* listing = ::fdopendir(copy);
  if (listing == nullptr) {
    const int error = errno;
    ::close(copy);
    return base::fail_errno(error, "cannot list " + shown);
  }
  while (const dirent* entry = ::readdir(listing)) {
    if (const auto name = parse_segment_file(entry->d_name); name && name->number != 0)
      names.push_back(*name);
  }
  ::closedir(listing);
  std::sort(names.begin(), names.end(), [](SegmentName a, SegmentName b) {
    return a.base != b.base ? a.base < b.base : a.number < b.number;
  });
  return names;
}

}  // namespace ttyward::journal
