// Results of commands that a verb ran itself, as the daemon would write them.
#pragma once

#include <string>

#include "command/batch.h"
#include "terminal/result.h"

namespace ttyward::cli {

std::string json_of(const terminal::CommandResult& result);
std::string json_of(const command::BatchResult& batch);

}  // namespace ttyward::cli
