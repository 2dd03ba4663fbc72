#include "gate/allowed_roots.h"

#include <algorithm>
#include <filesystem>

namespace ttyward::gate {

std::optional<std::string> root_of(const std::vector<std::string>& roots, const std::string& cwd) {
  std::error_code wrong;
  const std::filesystem::path real = std::filesystem::weakly_canonical(cwd, wrong);
  std::optional<std::string> found;
  for (const std::string& root : roots) {
    const std::filesystem::path base = std::filesystem::weakly_canonical(root, wrong);
    const auto [end, rest] = std::mismatch(base.begin(), base.end(), real.begin(), real.end());
    const bool inside = end == base.end() || end->empty();
    if (inside && (!found || base.string().size() > found->size())) found = base.string();
  }
  return found;
}

std::string outside_roots(const std::vector<std::string>& roots, const std::string& cwd) {
  if (roots.empty() || root_of(roots, cwd)) return {};
  std::string all;
  for (const std::string& root : roots) all += (all.empty() ? "" : ", ") + root;
  return cwd + " is outside the folders agents may work in: give a cwd in " + all;
}

}  // namespace ttyward::gate
