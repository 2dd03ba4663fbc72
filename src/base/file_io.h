// Reads and writes that transfer all bytes: signals and short counts are handled here.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "base/result.h"

namespace ttyward::base {

// How much was read: less than `bytes` only at the end of the file. `what` names the file in an error.
Result<size_t> read_at(int fd, void* into, size_t bytes, uint64_t offset, const std::string& what);
Result<void> write_at(int fd, const void* from, size_t bytes, uint64_t offset, const std::string& what);
// Behind what was written last; a failure leaves a part of `text` written.
Result<void> write_all(int fd, std::string_view text, const std::string& what);

}  // namespace ttyward::base
