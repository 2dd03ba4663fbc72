#include "policy/file_view.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <climits>
#include <cstdlib>

#include "base/hex.h"
#include "base/sha256.h"
#include "base/unique_fd.h"

namespace ttyward::policy {
namespace {

constexpr int kMaxLinks = 40;  // as the kernel

}  // namespace

std::string RealFiles::canonical(const std::string& absolute) const {
  char resolved[PATH_MAX];
  std::string head = absolute;
  std::string tail;
  int links = 0;
  // Every round drops one component or follows one link; the root always resolves.
  while (!head.empty() && head.size() < PATH_MAX) {
    if (::realpath(head.c_str(), resolved) != nullptr) {
      const std::string found(resolved);
      return found == "/" && !tail.empty() ? tail : found + tail;
    }
    const size_t slash = head.rfind('/');
    if (slash == std::string::npos) break;
    // A link that leads to nothing yet: whoever writes to it makes the file it leads to.
    const ssize_t length = ::readlink(head.c_str(), resolved, sizeof resolved);
    if (length > 0 && ++links <= kMaxLinks) {
      const std::string target(resolved, static_cast<size_t>(length));
      head = target.front() == '/' ? target : head.substr(0, slash + 1) + target;
      continue;
    }
    tail.insert(0, head.substr(slash));
    head.resize(slash == 0 ? (head.size() > 1 ? 1 : 0) : slash);
  }
  return absolute;
}

std::string RealFiles::content_hash(const std::string& absolute) const {
  const base::UniqueFd fd(::open(absolute.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY));
  struct stat info{};
  if (!fd || ::fstat(fd.get(), &info) != 0 || !S_ISREG(info.st_mode)) return {};
  if (info.st_size > static_cast<off_t>(kMostHashed)) return {};
  std::string text(static_cast<size_t>(info.st_size) + 1, '\0');  // one more: to see that it did not grow
  size_t size = 0;
  while (size < text.size()) {
    const ssize_t n = ::read(fd.get(), text.data() + size, text.size() - size);
    if (n < 0 && errno == EINTR) continue;
    if (n < 0) return {};
    if (n == 0) break;
    size += static_cast<size_t>(n);
  }
  if (size == text.size()) return {};
  text.resize(size);
  return base::to_hex(base::sha256(text));
}

std::string RememberedFiles::canonical(const std::string& absolute) const {
  if (files_ == nullptr) return absolute;
  const auto [entry, is_new] = known_.try_emplace(absolute);
  if (is_new) entry->second = files_->canonical(absolute);
  return entry->second;
}

std::string FakeFiles::canonical(const std::string& absolute) const {
  std::string path = absolute;
  for (int hops = 0; hops < 8; ++hops) {
    bool changed = false;
    for (const auto& [link, target] : links_) {
      if (path == link || path.starts_with(link + "/")) {
        path = target + path.substr(link.size());
        changed = true;
      }
    }
    if (!changed) break;
  }
  return path;
}

std::string FakeFiles::content_hash(const std::string& absolute) const {
  const auto found = contents_.find(absolute);
  return found == contents_.end() ? std::string() : base::to_hex(base::sha256(found->second));
}

}  // namespace ttyward::policy
