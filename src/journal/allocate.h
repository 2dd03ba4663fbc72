// Room for a part of a journal: after it, a full disk can no longer get in the way.
#pragma once

#include <sys/types.h>

namespace ttyward::journal {

// Gives the first `bytes` of a new, empty file their place on the disk; they read as zeros. Returns 0 or
// an errno, as posix_fallocate does.
int allocate_room(int fd, off_t bytes);

}  // namespace ttyward::journal
