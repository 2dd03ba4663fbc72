#include "policy/file_view.h"

#include <unistd.h>

#include <climits>
#include <cstdlib>

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

}  // namespace ttyward::policy
