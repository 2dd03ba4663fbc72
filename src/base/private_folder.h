// Folders and files that must be ours alone: owner checked, no access for others, no symbolic link followed.
#pragma once

#include <cstdint>
#include <string>

#include "base/result.h"
#include "base/unique_fd.h"

namespace ttyward::base {

// Opens a directory that must be ours (owner, no access for others) and not a
// symbolic link. `Create` makes what is missing of it, each part 0700.
enum class IfMissing : uint8_t { Fail, Create };
Result<UniqueFd> open_private_folder(const std::string& path, IfMissing missing);
Result<UniqueFd> open_private_folder_at(int parent, const char* name, const std::string& shown);
// Opens a regular file that must be ours and not a symbolic link.
Result<UniqueFd> open_private_file_at(int folder, const char* name, int flags, const std::string& shown);

}  // namespace ttyward::base
