// What a holder process does: keeps one command and its output alive, whatever becomes of the program that
// asked for it. Started by hold/launch.h, with a socket as stdin.
#pragma once

namespace ttyward::hold {

// Forks; the first process ends at once. Returns the exit status of the second.
int hold_process();

}  // namespace ttyward::hold
