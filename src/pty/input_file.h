// A command's whole standard input, known before the command starts.
#pragma once

#include <string_view>

#include "base/result.h"
#include "base/unique_fd.h"

namespace ttyward::pty {

// A file in memory with these bytes, open for reading at its beginning, for SpawnSpec::stdin_fd. The command
// has all of it when it starts: nobody has to pass anything on while it runs.
base::Result<base::UniqueFd> input_file(std::string_view bytes);

}  // namespace ttyward::pty
