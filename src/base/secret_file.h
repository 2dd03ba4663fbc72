// A secret in a file: one line that only its owner may read.
#pragma once

#include <string>

#include "base/result.h"

namespace ttyward::base {

// 256 random bits in hexadecimal.
std::string random_secret();
// The line. Fails if the file is not ours alone (0600, no symbolic link), or too short to be a secret.
Result<std::string> read_secret_file(const std::string& path);
// A new file. AlreadyExists: there is one.
Result<void> write_secret_file(const std::string& path, const std::string& secret);

}  // namespace ttyward::base
