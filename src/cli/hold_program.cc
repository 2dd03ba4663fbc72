#include "cli/hold_program.h"

#include <unistd.h>

#include <climits>
#include <string_view>

namespace ttyward::cli {

base::Result<std::string> find_hold_program() {
  char self[PATH_MAX];
  const ssize_t length = ::readlink("/proc/self/exe", self, sizeof self);
  const std::string_view path(self, length > 0 ? static_cast<size_t>(length) : 0);
  const std::string folder(path.substr(0, path.rfind('/') + 1));
  const std::string beside = folder + "ttyward-hold";                        // a build folder
  const std::string installed = folder + "../libexec/ttyward/ttyward-hold";  // prefix/bin
  for (const std::string& program : {beside, installed}) {
    if (!path.empty() && ::access(program.c_str(), X_OK) == 0) return program;
  }
  return base::fail(base::ErrorCode::NotFound, "the program ttyward-hold is neither at " + beside +
                                                   " nor at " + installed + ": install ttyward again");
}

}  // namespace ttyward::cli
