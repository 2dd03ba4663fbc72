// The program that runs now, as bytes: it is brought to other places under the name of its content.
#pragma once

#include <string>

#include "base/result.h"

namespace ttyward::relay {

base::Result<std::string> read_own_program();

// In the folder of programs that were brought here: marks ours as used today, and removes those that were not
// used for a month. One that still runs goes on; whoever needs it again brings it again.
void sweep_programs(const std::string& folder);

}  // namespace ttyward::relay
