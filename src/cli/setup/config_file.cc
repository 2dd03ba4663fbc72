#include "cli/setup/config_file.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <climits>
#include <cstdlib>
#include <filesystem>

#include "base/file_io.h"
#include "base/ids.h"
#include "base/unique_fd.h"

namespace ttyward::cli::setup {
namespace config_file {
namespace {

using base::ErrorCode;
using base::fail;
using base::fail_errno;
using base::Result;
using base::UniqueFd;

constexpr size_t kMaxBytes = size_t{64} << 20;

std::string folder_of(const std::string& path) {
  return std::filesystem::path(path).parent_path().string();
}

// Which file a path means: behind links, and with the links of its folder followed if it is not there.
Result<std::string> real_path(const std::string& path) {
  char resolved[PATH_MAX];
  if (::realpath(path.c_str(), resolved) != nullptr) return std::string(resolved);
  struct stat link = {};
  if (::lstat(path.c_str(), &link) == 0) {
    return fail(ErrorCode::InvalidArgument,
                path + " is a link to a file that is not there; make that file, or remove the link");
  }
  return path;
}

Result<void> check(const ConfigFile& file, const struct stat& status) {
  if (!S_ISREG(status.st_mode))
    return fail(ErrorCode::InvalidArgument, file.real + " is not a regular file; move it away");
  if (status.st_uid != ::geteuid())
    return fail(ErrorCode::PermissionDenied, file.real + " belongs to somebody else; it was not changed");
  if ((status.st_mode & S_IWUSR) == 0) {
    return fail(ErrorCode::PermissionDenied,
                file.real + " is read-only; if it may be changed, do chmod u+w on it and try again");
  }
  if (static_cast<size_t>(status.st_size) > kMaxBytes)
    return fail(ErrorCode::InvalidArgument, file.real + " is longer than 64 MiB; it was not changed");
  return {};
}

Result<void> sync_folder(const std::string& folder) {
  const UniqueFd fd(::open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (!fd || ::fsync(fd.get()) != 0) return fail_errno(errno, folder);
  return {};
}

Result<void> write_beside(const ConfigFile& file, const std::string& text) {
  const std::string folder = folder_of(file.real);
  std::error_code error;
  std::filesystem::create_directories(folder, error);
  if (error) return fail(ErrorCode::Io, "cannot make " + folder + ": " + error.message());
  const std::string beside = file.real + "." + base::random_nonce() + ".tmp";
  const UniqueFd fd(::open(beside.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600));
  if (!fd) return fail_errno(errno, "cannot write in " + folder);
  Result<void> done = base::write_all(fd.get(), text, beside);
  if (done && (::fchmod(fd.get(), file.mode) != 0 || ::fsync(fd.get()) != 0))
    done = fail_errno(errno, beside);
  if (done && ::rename(beside.c_str(), file.real.c_str()) != 0) done = fail_errno(errno, file.real);
  if (!done) {
    ::unlink(beside.c_str());
    return done;
  }
  return sync_folder(folder);
}

}  // namespace
}  // namespace config_file

base::Result<ConfigFile> read_config_file(const std::string& path) {
  ConfigFile file;
  file.path = path;
  auto real = config_file::real_path(path);
  if (!real) return tl::unexpected(real.error());
  file.real = std::move(*real);
  const base::UniqueFd fd(::open(file.real.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK));
  if (!fd) {
    if (errno == ENOENT) return file;
    return base::fail_errno(errno, file.real);
  }
  struct stat status = {};
  if (::fstat(fd.get(), &status) != 0) return base::fail_errno(errno, file.real);
  if (auto good = config_file::check(file, status); !good) return tl::unexpected(good.error());
  file.exists = true;
  file.mode = status.st_mode & 0777;
  char buffer[65'536];
  for (;;) {
    const ssize_t n = ::read(fd.get(), buffer, sizeof buffer);
    if (n < 0 && errno == EINTR) continue;
    if (n < 0) return base::fail_errno(errno, file.real);
    if (n == 0) return file;
    file.text.append(buffer, static_cast<size_t>(n));
    if (file.text.size() > config_file::kMaxBytes)
      return base::fail(base::ErrorCode::InvalidArgument, file.real + " is longer than 64 MiB");
  }
}

base::Result<void> replace_config_file(const ConfigFile& before, const std::optional<std::string>& text) {
  const auto now = read_config_file(before.path);
  if (!now) return tl::unexpected(now.error());
  if (now->exists != before.exists || now->text != before.text || now->real != before.real) {
    return base::fail(
        base::ErrorCode::Unavailable,
        before.path + " was changed by another program just now; close the agent and try again");
  }
  if (text) return config_file::write_beside(before, *text);
  if (before.exists && ::unlink(before.real.c_str()) != 0) return base::fail_errno(errno, before.real);
  return {};
}

}  // namespace ttyward::cli::setup
