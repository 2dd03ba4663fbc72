// The engine's name for the holder processes of its terminals.
#pragma once

#include "command/holder_process.h"

namespace ttyward::engine {

using HolderLink = command::HolderProcess;

}  // namespace ttyward::engine
