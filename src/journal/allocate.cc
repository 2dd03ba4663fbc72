#include "journal/allocate.h"

#include <fcntl.h>
#include <linux/magic.h>
#include <sys/vfs.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstddef>

namespace ttyward::journal {

namespace {

// So much is filled with zeros instead of allocated, where that promises the same. Most journals are no
// larger and gone within a second: then no block was ever looked for, and none has to be given back,
// which is slow where the disk is told of each (0.1 to 4 ms).
constexpr off_t kWorthFilling = 64 * 1024;
constexpr std::array<std::byte, 16 * 1024> kZeros{};
constexpr long kXfsMagic = 0x58465342;  // not in linux/magic.h

// File systems that set the space for written bytes aside at once, and find its place later: what was
// written there can be overwritten, by write or through a mapping, however full the disk is.
bool sets_space_aside(int fd) {
  struct statfs info{};
  if (::fstatfs(fd, &info) != 0) return false;
  return info.f_type == EXT4_SUPER_MAGIC || info.f_type == kXfsMagic || info.f_type == TMPFS_MAGIC;
}

int fill(int fd, off_t bytes) {
  for (off_t done = 0; done < bytes;) {
    const auto part = std::min(static_cast<size_t>(bytes - done), kZeros.size());
    const ssize_t written = ::pwrite(fd, kZeros.data(), part, done);
    if (written == 0) return ENOSPC;
    if (written > 0) {
      done += written;
    } else if (errno != EINTR) {
      return errno;
    }
  }
  return 0;
}

}  // namespace

int allocate_room(int fd, off_t bytes) {
  return bytes <= kWorthFilling && sets_space_aside(fd) ? fill(fd, bytes) : ::posix_fallocate(fd, 0, bytes);
}

}  // namespace ttyward::journal
