// Whether this process would take a daemon that it starts to its own grave.
//
// Everything that is started inside a terminal of ours, or by `ttyward run`, is brought
// down with it, whatever it does to get away: that is what the kill ladder is for. A
// daemon is no exception. Nothing that a daemon could show to be spared (a name, a mark,
// a lock, its program file) could not be shown by a hostile command as well, so none is
// started there; and with it would go all the terminals it had opened. A terminal that
// belongs to other folders is somebody's test: its daemon may go with it.
#pragma once

#include "base/folders.h"

namespace ttyward::client {

// Whether an ancestor keeps a terminal or a command of these folders.
bool is_inside_a_terminal(const base::Folders& folders);

}  // namespace ttyward::client
