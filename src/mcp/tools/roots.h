// The folders commands may be started in. A guard against mistakes, not a sandbox: a command can go anywhere
// itself.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "base/result.h"

namespace ttyward::mcp::tools {

class Roots {
 public:
  // Each must be there. None: every folder is allowed.
  static base::Result<Roots> open(const std::vector<std::string>& folders);

  // The real path of `cwd` (relative: to the first root, else to where we were started), which must be a
  // folder inside a root, links followed. Without a cwd: the first root, or where we were started.
  base::Result<std::string> resolve(const std::optional<std::string>& cwd) const;

 private:
  std::vector<std::string> roots_;  // real paths
  std::string base_;
};

}  // namespace ttyward::mcp::tools
