// Files that are made ahead and get their name when they are needed. Making one can take 0.2 ms, because a
// file system looks for a free inode; giving it a name takes a tenth of that. One that never gets a name is
// gone when it is closed, whatever becomes of its process.
#pragma once

#include <string>

#include "base/result.h"
#include "base/unique_fd.h"

namespace ttyward::base {

// A private, empty file on the file system of `folder`, to read and write; `flags` are open(2)'s, such as
// O_APPEND. Fails with Unsupported where the file system has no such files.
Result<UniqueFd> make_unnamed_file(int folder, int flags);

// Fails with AlreadyExists if the name is in use.
Result<void> give_name(int file, int folder, const std::string& name);

}  // namespace ttyward::base
