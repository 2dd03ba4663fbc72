// Where ttyward-hold is: it is installed beside ttyward.
#pragma once

#include <string>

#include "base/result.h"

namespace ttyward::cli {

base::Result<std::string> find_hold_program();

}  // namespace ttyward::cli
