#include "relay/own_file.h"

#include <fcntl.h>
#include <sys/stat.h>

#include <cerrno>
#include <chrono>
#include <filesystem>
#include <system_error>

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

void sweep_programs(const std::string& folder) {
  constexpr std::chrono::hours kMonth{30 * 24};
  constexpr std::chrono::hours kDay{24};
  const base::UniqueFd own(::open("/proc/self/exe", O_RDONLY | O_CLOEXEC));
  if (own) ::futimens(own.get(), nullptr);
  std::error_code error;
  const auto now = std::filesystem::file_time_type::clock::now();
  for (const auto& each : std::filesystem::directory_iterator(folder, error)) {
    const std::string name = each.path().filename().string();
    const bool program = name.starts_with("hold-");
    // Of a login that was cut off while it brought one.
    const bool unfinished = name.starts_with("new-") || name.starts_with("probe-");
    if (!program && !unfinished) continue;
    std::error_code ignored;
    const auto used = std::filesystem::last_write_time(each.path(), ignored);
    if (!ignored && now - used > (program ? kMonth : kDay)) std::filesystem::remove(each.path(), ignored);
  }
}

}  // namespace ttyward::relay
