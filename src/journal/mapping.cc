#include "journal/mapping.h"

#include <cerrno>

namespace ttyward::journal {

base::Result<Mapping> Mapping::map(int fd, uint64_t bytes, Access access, const std::string& what) {
  const int protection = access == Access::Read ? PROT_READ : PROT_READ | PROT_WRITE;
  void* at = ::mmap(nullptr, bytes, protection, MAP_SHARED, fd, 0);
  if (at == MAP_FAILED) return base::fail_errno(errno, "cannot map " + what);
  Mapping mapping;
  mapping.at_ = at;
  mapping.bytes_ = bytes;
  return mapping;
}

}  // namespace ttyward::journal
