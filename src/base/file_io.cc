#include "base/file_io.h"

#include <unistd.h>

#include <cerrno>

namespace ttyward::base {

Result<size_t> read_at(int fd, void* into, size_t bytes, uint64_t offset, const std::string& what) {
  auto* const p = static_cast<char*>(into);
  size_t done = 0;
  while (done < bytes) {
    const ssize_t got = ::pread(fd, p + done, bytes - done, static_cast<off_t>(offset + done));
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) return fail_errno(errno, "cannot read " + what);
    if (got == 0) break;
    done += static_cast<size_t>(got);
  }
  return done;
}

Result<void> write_at(int fd, const void* from, size_t bytes, uint64_t offset, const std::string& what) {
  const auto* const p = static_cast<const char*>(from);
  size_t done = 0;
  while (done < bytes) {
    const ssize_t put = ::pwrite(fd, p + done, bytes - done, static_cast<off_t>(offset + done));
    if (put < 0 && errno == EINTR) continue;
    if (put <= 0) return fail_errno(put < 0 ? errno : ENOSPC, "cannot write " + what);
    done += static_cast<size_t>(put);
  }
  return {};
}

Result<void> write_all(int fd, std::string_view text, const std::string& what) {
  while (!text.empty()) {
    const ssize_t put = ::write(fd, text.data(), text.size());
    if (put < 0 && errno == EINTR) continue;
    if (put <= 0) return fail_errno(put < 0 ? errno : ENOSPC, "cannot write " + what);
    text.remove_prefix(static_cast<size_t>(put));
  }
  return {};
}

}  // namespace ttyward::base
