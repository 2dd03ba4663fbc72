#include "policy/file_view.h"

#include <climits>
#include <cstdlib>

namespace ttyward::policy {

std::string RealFiles::canonical(const std::string& absolute) const {
  char resolved[PATH_MAX];
  std::string head = absolute;
  std::string tail;
  // Every round drops one component; the root always resolves.
  while (!head.empty() && head.size() < PATH_MAX) {
    if (::realpath(head.c_str(), resolved) != nullptr) {
      std::string found(resolved);
      if (found == "/" && !tail.empty()) return tail;
      return found + tail;
    }
    const size_t slash = head.rfind('/');
    if (slash == std::string::npos) break;
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
