// What policy judges for a command in another place: the line that would run it there from here. So rules
// about ssh, podman and docker say which places agents may use.
#pragma once

#include <string>

#include "base/result.h"

namespace ttyward::app {

// Without a command: a shell there.
base::Result<std::string> line_there(const std::string& place, const std::string& command);

}  // namespace ttyward::app
