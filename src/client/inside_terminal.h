// Whether a daemon that this process starts would end with a terminal.
//
// Everything that is started inside one of ttyward's terminals, or by `ttyward run`, is
// ended with it (pty/kill_ladder.h), even if it tries to escape. A daemon is no exception:
// any sign by which a daemon could be spared (a name, a mark, a lock, its program file)
// could be copied by a hostile command. So no daemon is started there, because all the
// terminals that it opened would end with it. A terminal that belongs to other folders
// is part of a test: its daemon may end with it.
#pragma once

#include "base/folders.h"

namespace ttyward::client {

// Whether an ancestor keeps a terminal or a command of these folders.
bool is_inside_a_terminal(const base::Folders& folders);

}  // namespace ttyward::client
