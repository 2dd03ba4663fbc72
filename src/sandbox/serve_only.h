// Confines this process to what it has open: for a front end that talks to strangers and needs nothing else.
//
// From then on it runs no program, opens no file, makes no socket and signals nobody. Two layers, each as far
// as the kernel has it: a filter of system calls for all threads, and Landlock without a single rule for this
// thread and those it starts. There is no way back.
#pragma once

#include "base/result.h"

namespace ttyward::sandbox {

struct ServeOnly {
  bool filter = false;    // seccomp
  bool landlock = false;  // false as well if the kernel has none
};

// Fails if the filter cannot be installed.
base::Result<ServeOnly> serve_only();

}  // namespace ttyward::sandbox
