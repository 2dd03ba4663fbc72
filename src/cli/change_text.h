// What a command changed, in a person's words.
#pragma once

#include <string>
#include <vector>

#include "base/result.h"
#include "changes/shelf.h"
#include "cli/colour.h"
#include "wire/types/change_calls.h"

namespace ttyward::cli {

// "2 added, 1 changed, 1 deleted (+12 -3)"; "nothing changed".
std::string change_totals(const wire::Changes& changes);
// A line for each change, safe to show, and one for what is not listed.
std::string change_lines(const wire::Changes& changes, Paint paint);
// A patch for a person's terminal: nothing in it acts on the terminal.
std::string shown_patch(const std::string& patch, Paint paint);

// Words of the command line as paths below the set's workspace: full, from the current folder, or as they are
// listed.
base::Result<std::vector<std::string>> paths_in(const changes::ChangeSet& set,
                                                const std::vector<std::string>& words);

// Says what was done and what was not, one line each. The exit code: 0, or 1 for conflicts.
int report_applied(const char* verb, const char* done, const wire::Applied& applied, bool json);

}  // namespace ttyward::cli
