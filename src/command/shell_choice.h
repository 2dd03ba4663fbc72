// Which shell reads a command line that is run on its own, here and in the daemon.
#pragma once

#include <string>

#include "base/result.h"

namespace ttyward::command {

// `asked` if it names one. Else bash: what models write is bash, whatever the user's login shell is. Else sh.
base::Result<std::string> choose_shell(const std::string& asked = {});

}  // namespace ttyward::command
