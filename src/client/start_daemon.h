// Starting the daemon in the background, by way of `ttyward daemon run --detach`.
#pragma once

#include <chrono>
#include <string>

#include "base/folders.h"
#include "base/result.h"

namespace ttyward::client {

// Returns once a daemon listens, ours or that of somebody who was faster; the
// error is what the daemon said why it could not.
base::Result<void> start_daemon(const std::string& program, const base::Folders& folders,
                                std::chrono::steady_clock::time_point until);

}  // namespace ttyward::client
