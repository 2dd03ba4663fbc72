// Whether a shell can be started at any moment without harm by what its user's start-up files do.
#pragma once

#include <string>
#include <vector>

#include "place/place.h"

namespace ttyward::engine {

// True: one of the files this shell reads at its start takes a lock, or starts an agent or a multiplexer. By
// their text: comments do not count, and files that they read in turn are not looked at. Also true where the
// place does not say at once.
bool start_files_take_locks(const place::Place& place, const std::vector<std::string>& shell,
                            const std::vector<std::string>& environment);

}  // namespace ttyward::engine
