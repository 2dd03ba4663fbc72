// The terminals an engine before us left, read back from their logs and journals.
#pragma once

#include <memory>
#include <vector>

#include "base/result.h"
#include "engine/terminal.h"

namespace ttyward::engine {

// Each of them, or why it cannot be read; nothing else may be done with one before its settle(). On several
// threads, which end before this returns.
base::Result<std::vector<base::Result<std::unique_ptr<Terminal>>>> read_back_terminals(TerminalHost& host);

}  // namespace ttyward::engine
