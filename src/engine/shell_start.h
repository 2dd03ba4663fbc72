// What has to be there before a terminal's shell is started: its private folder, the
// files with our hooks, and the arguments and environment that make it read them.
#pragma once

#include <string>
#include <vector>

#include "base/result.h"
#include "engine/settings.h"
#include "engine/terminal_spec.h"
#include "hold/launch.h"
#include "place/place.h"
#include "shell/launch.h"

namespace ttyward::engine {

struct ShellStart {
  shell::ShellIdentity identity;
  shell::Quality expected = shell::Quality::None;  // of its integration
  std::vector<std::string> remove_when_ready;
};

// Makes `folder` and what belongs into it, and completes `request`. `secret` is that of the marks' nonces.
base::Result<ShellStart> prepare_shell(const place::Place& place, const TerminalSpec& spec,
                                       const Settings& settings, const std::string& secret,
                                       const std::string& folder, hold::LaunchRequest& request);

}  // namespace ttyward::engine
