// Where ttyward-hold is: beside ttyward, or in libexec of the same prefix (cmake/Install.cmake).
#pragma once

#include <string>

#include "base/result.h"

namespace ttyward::cli {

base::Result<std::string> find_hold_program();

}  // namespace ttyward::cli
