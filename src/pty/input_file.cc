#include "pty/input_file.h"

#include <fcntl.h>
#include <sys/mman.h>

#include <cerrno>
#include <string>

#include "base/file_io.h"

namespace ttyward::pty {

base::Result<base::UniqueFd> input_file(std::string_view bytes) {
  const std::string what = "the command's standard input";
  const base::UniqueFd memory(::memfd_create("stdin", MFD_CLOEXEC));
  if (!memory) return base::fail_errno(errno, "making " + what);
  if (auto written = base::write_at(memory.get(), bytes.data(), bytes.size(), 0, what); !written)
    return tl::unexpected(written.error());
  // A description of its own, which cannot be written to.
  base::UniqueFd file(
      ::open(("/proc/self/fd/" + std::to_string(memory.get())).c_str(), O_RDONLY | O_CLOEXEC));
  if (!file) return base::fail_errno(errno, "opening " + what);
  return file;
}

}  // namespace ttyward::pty
