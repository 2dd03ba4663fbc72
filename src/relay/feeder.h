// The standard input of a far command that was given a pipe or a file here.
//
// The relay may end at any moment, and the command must not take that for the end of its input. So a small
// process of its own has the other end of the command's pipe. It is told bytes with their offset, over a
// socket beside the holder's, and answers how far it has come: whoever connects next goes on from there. It
// ends when it is told that the input has ended, or when nobody can read it any more.
#pragma once

#include <cstdint>
#include <string>

#include "base/result.h"
#include "base/unique_fd.h"

namespace ttyward::relay {

inline constexpr uint64_t kStdinNotWanted = ~uint64_t{0};

// Forks. Returns the end that the command reads.
base::Result<base::UniqueFd> start_feeder(const std::string& sockets, const std::string& id);

// Sent: u64 offset, u32 length, bytes; length 0 is the end. Received: u64 how far it has come, once at the
// beginning and after each.
base::Result<base::UniqueFd> connect_feeder(const std::string& sockets, const std::string& id);

}  // namespace ttyward::relay
