// Running a command in a shell that carries none of our hooks: an unknown one, one at
// the other end of ssh, one inside a container.
//
// The line that is typed prints a start mark, runs the command, and prints an end
// mark with its status. Both marks carry a nonce of this command's own. The echo of
// the line cannot be taken for them: there the escape characters are still spelled
// out. The command itself is spelled in octal inside printf's quotes, so that it may
// contain anything and history expansion finds nothing; lines stay far below the
// 4095 bytes a terminal keeps, and the 1023 that busybox edits.
//
// What it cannot see: `exit` and `exec` end the shell and with it the mark; a syntax
// error in a shell that then drops the whole line (dash). The waiting code also watches
// for the shell's prompt or end, and puts a deadline on it.
#pragma once

#include <string>
#include <string_view>

#include "base/result.h"
#include "shell/shell_kind.h"

namespace ttyward::shell {

struct Sentinel {
  std::string bytes;  // to type, the final carriage return included
};

// `nonce`: base::random_nonce(), new for each command. The marks are OSC 633, seen by CommandTracker
// (Submission::sentinel_nonce).
base::Result<Sentinel> make_sentinel(std::string_view command, std::string_view nonce, Dialect dialect);

}  // namespace ttyward::shell
