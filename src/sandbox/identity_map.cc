#include "sandbox/identity_map.h"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <cstddef>

namespace ttyward::sandbox {
namespace {

TTYWARD_NO_SANITIZE bool write_file(const char* path, const char* text, size_t length) {
  const int fd = ::open(path, O_WRONLY | O_CLOEXEC);
  if (fd < 0) return false;
  const bool whole = ::write(fd, text, length) == static_cast<ssize_t>(length);
  const int error = errno;
  ::close(fd);
  errno = error;
  return whole;
}

TTYWARD_NO_SANITIZE bool map_one(const char* path, MappedId id) {
  char line[64];
  char* at = put_number(line, id.inside);
  *at++ = ' ';
  at = put_number(at, id.outside);
  at = put_text(at, " 1\n");
  return write_file(path, line, static_cast<size_t>(at - line));
}

}  // namespace

TTYWARD_NO_SANITIZE char* put_number(char* at, unsigned long value) {
  char digits[24];
  size_t count = 0;
  do digits[count++] = static_cast<char>('0' + value % 10);
  while ((value /= 10) != 0);
  while (count > 0) *at++ = digits[--count];
  return at;
}

TTYWARD_NO_SANITIZE char* put_text(char* at, const char* text) {
  while (*text != '\0') *at++ = *text++;
  return at;
}

TTYWARD_NO_SANITIZE bool map_identity(MappedId user, MappedId group) {
  return write_file("/proc/self/setgroups", "deny", 4) && map_one("/proc/self/uid_map", user) &&
         map_one("/proc/self/gid_map", group);
}

}  // namespace ttyward::sandbox
