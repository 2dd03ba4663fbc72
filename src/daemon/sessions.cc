#include "daemon/sessions.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <vector>

#include "base/file_io.h"
#include "base/hex.h"
#include "base/join_secret.h"
#include "base/same_secret.h"
#include "base/sha256.h"
#include "base/unique_fd.h"

namespace ttyward::daemon {
namespace {

constexpr size_t kMostKept = 20'000;  // lines, two for each name; the oldest go
constexpr size_t kHashText = 64;
constexpr const char* kJoin = "\x1fjoin";  // behind a name: the hash is that of its secret for joining

std::string hash_of(const std::string& secret) {
  return base::to_hex(base::sha256(secret));
}

}  // namespace

base::Result<Sessions> Sessions::open(const std::string& path) {
  Sessions made;
  made.path_ = path;
  const base::UniqueFd file(::open(path.c_str(), O_RDONLY | O_CREAT | O_NOFOLLOW | O_CLOEXEC, 0600));
  if (!file) return base::fail_errno(errno, "cannot open " + path);
  struct stat status{};
  if (::fstat(file.get(), &status) != 0) return base::fail_errno(errno, "cannot look at " + path);
  if (!S_ISREG(status.st_mode) || status.st_uid != ::geteuid() || (status.st_mode & 077) != 0)
    return base::fail(base::ErrorCode::PermissionDenied,
                      path + " must be your own file and readable by nobody else; run chmod 600 on it");
  std::string text(static_cast<size_t>(status.st_size), '\0');
  const ssize_t got = ::read(file.get(), text.data(), text.size());
  if (got < 0) return base::fail_errno(errno, "cannot read " + path);
  text.resize(static_cast<size_t>(got));
  std::vector<std::string> lines;
  for (size_t at = 0; at < text.size();) {
    const size_t end = text.find('\n', at);
    if (end == std::string::npos) break;  // cut short when the daemon died
    if (end - at > kHashText + 1) lines.push_back(text.substr(at, end - at));
    at = end + 1;
  }
  if (lines.size() > kMostKept) {
    lines.erase(lines.begin(), lines.end() - static_cast<std::ptrdiff_t>(kMostKept / 2));
    const std::string fresh = path + ".new";
    const base::UniqueFd shorter(
        ::open(fresh.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_NOFOLLOW | O_CLOEXEC, 0600));
    std::string all;
    for (const std::string& line : lines) all += line + "\n";
    if (shorter && base::write_all(shorter.get(), all, fresh)) ::rename(fresh.c_str(), path.c_str());
  }
  for (const std::string& line : lines)
    made.known_.emplace(line.substr(kHashText + 1), line.substr(0, kHashText));
  return made;
}

void Sessions::keep(const std::string& name, const std::string& hash) {
  known_.emplace(name, hash);
  if (path_.empty()) return;
  const base::UniqueFd file(
      ::open(path_.c_str(), O_WRONLY | O_APPEND | O_CREAT | O_NOFOLLOW | O_CLOEXEC, 0600));
  if (file) static_cast<void>(base::write_all(file.get(), hash + " " + name + "\n", path_));
}

Sessions::Proof Sessions::prove(const std::string& name, const std::string& secret) {
  if (secret.size() < kLeastSecret) {
    return {"session '" + name +
            "' needs a secret of at least 16 characters that proves it: send it in the hello"};
  }
  if (std::any_of(name.begin(), name.end(), [](unsigned char c) { return c < ' ' || c == 127; })) {
    return {"a session's name must not contain control characters"};
  }
  const std::string hash = hash_of(secret);
  const auto found = known_.find(name);
  if (found == known_.end()) {
    keep(name, hash);
    keep(name + kJoin, hash_of(base::join_secret(secret)));
    return {};
  }
  if (base::same_secret(hash, found->second)) return {};
  const auto join = known_.find(name + kJoin);
  if (join != known_.end() && base::same_secret(hash, join->second)) return {{}, true};
  return {"session '" + name +
          "' belongs to another client; send the secret it was first used with, or choose another name"};
}

}  // namespace ttyward::daemon
