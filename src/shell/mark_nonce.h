// The secret of marks: a new one for every command, derived from one that never leaves the terminal.
//
// The shell gets number n + 1 when command n has ended, and only uses it from the start of the next command
// on. So a nonce that a command learns (it is in the shell's memory) is not valid for any later
// command, and an engine that replays a terminal derives the same numbers again.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace ttyward::shell {

// 128 bits in hexadecimal.
std::string mark_nonce(std::string_view secret, uint64_t index);

}  // namespace ttyward::shell
