#include "command/shell_choice.h"

#include <unistd.h>

namespace ttyward::command {

base::Result<std::string> choose_shell(const std::string& asked) {
  if (!asked.empty()) return asked;
  for (const char* shell : {"/bin/bash", "/usr/bin/bash", "/usr/local/bin/bash", "/bin/sh"}) {
    if (::access(shell, X_OK) == 0) return std::string(shell);
  }
  return base::fail(base::ErrorCode::NotFound,
                    "no shell was found on this machine; name one with --shell, or give a program and its "
                    "arguments instead of a command line");
}

}  // namespace ttyward::command
