#include "base/secret_file.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>

#include "base/ids.h"
#include "base/unique_fd.h"

namespace ttyward::base {
namespace {

constexpr size_t kLeast = 32;
constexpr size_t kMost = 4096;

}  // namespace

std::string random_secret() {
  return random_nonce() + random_nonce();
}

Result<std::string> read_secret_file(const std::string& path) {
  const UniqueFd file(::open(path.c_str(), O_RDONLY | O_NOFOLLOW | O_CLOEXEC | O_NONBLOCK));
  if (!file) return fail_errno(errno, "cannot read the token from " + path);
  struct stat status{};
  if (::fstat(file.get(), &status) != 0) return fail_errno(errno, "cannot look at " + path);
  if (!S_ISREG(status.st_mode) || status.st_uid != ::geteuid() || (status.st_mode & 077) != 0)
    return fail(ErrorCode::PermissionDenied,
                path + " must be your own file and readable by nobody else; run chmod 600 on it");
  std::string text(kMost, '\0');
  const ssize_t got = ::read(file.get(), text.data(), text.size());
  if (got < 0) return fail_errno(errno, "cannot read the token from " + path);
  text.resize(static_cast<size_t>(got));
  while (!text.empty() && (text.back() == '\n' || text.back() == '\r' || text.back() == ' ')) text.pop_back();
  if (text.size() < kLeast || text.find('\n') != std::string::npos)
    return fail(ErrorCode::InvalidArgument, path + " must contain one line of at least 32 characters");
  return text;
}

Result<void> write_secret_file(const std::string& path, const std::string& secret) {
  const UniqueFd file(::open(path.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600));
  if (!file) return fail_errno(errno, "cannot write " + path);
  const std::string line = secret + "\n";
  if (::write(file.get(), line.data(), line.size()) == static_cast<ssize_t>(line.size())) return {};
  const int error = errno;
  ::unlink(path.c_str());
  return fail_errno(error, "cannot write " + path);
}

}  // namespace ttyward::base
