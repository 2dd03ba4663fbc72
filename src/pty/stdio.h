// A command's stdin, stdout and stderr, made and connected. Internal to pty/spawn.
#pragma once

#include <vector>

#include "base/result.h"
#include "base/unique_fd.h"
#include "pty/spawn.h"

namespace ttyward::pty {

// The child's ends, closed when the parent is done with them.
struct Stdio {
  int child[3] = {-1, -1, -1};
  std::vector<base::UniqueFd> owned;
};

// Our ends go into `into`, the child's are returned.
base::Result<Stdio> connect_pipes(const SpawnSpec& spec, Spawned& into);
Stdio connect_terminal(const SpawnSpec& spec, PseudoTerminal terminal, Spawned& into);

}  // namespace ttyward::pty
