// Programs that run code they find in the folder they stand in (a toolchain file, a wrapper's settings):
// harmless only where no such file is.
#pragma once

#include "policy/invocation.h"

namespace ttyward::policy {

// Asks if a file that `row.obeys` names is in the working folder or above it.
void check_obeyed_files(Invocation& call, const ProgramRow& row);

}  // namespace ttyward::policy
