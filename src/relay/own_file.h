// The program that runs now, as bytes: it is brought to other places under the name of its content.
#pragma once

#include <string>

#include "base/result.h"

namespace ttyward::relay {

base::Result<std::string> read_own_program();

}  // namespace ttyward::relay
