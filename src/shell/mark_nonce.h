// The secret of marks: a new one for every command, made from one that never leaves us.
//
// The shell gets number n + 1 when command n has ended, and only uses it from the start of the next command
// on. So what a command may learn and give away (it is in the shell's memory) proves nothing about any later
// one, and an engine that reads a terminal back makes the same numbers again.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace ttyward::shell {

// 128 bits in hexadecimal.
std::string mark_nonce(std::string_view secret, uint64_t index);

}  // namespace ttyward::shell
