#include "relay/own_file.h"

#include <fcntl.h>
#include <sys/stat.h>

#include <cerrno>

#include "base/file_io.h"
#include "base/unique_fd.h"

namespace ttyward::relay {

base::Result<std::string> read_own_program() {
  const base::UniqueFd file(::open("/proc/self/exe", O_RDONLY | O_CLOEXEC));
  struct stat info{};
  if (!file || ::fstat(file.get(), &info) != 0) return base::fail_errno(errno, "cannot read our own program");
  std::string bytes(static_cast<size_t>(info.st_size), '\0');
  const auto got = base::read_at(file.get(), bytes.data(), bytes.size(), 0, "our own program");
  if (!got) return tl::unexpected(got.error());
  bytes.resize(*got);
  return bytes;
}

}  // namespace ttyward::relay
