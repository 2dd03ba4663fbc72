// Whether commands can be confined on this machine: tried once, for real.
#pragma once

namespace ttyward::pty {

// Runs a program in a sandbox with everything that the profile workspace promises. The first call takes some
// milliseconds; the answer holds for the life of the process. Thread-safe.
bool sandbox_works();

}  // namespace ttyward::pty
