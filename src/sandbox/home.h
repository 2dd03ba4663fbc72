// What is visible of the home folder: installed tools and caches of packages, no keys. Internal to profile.h.
#pragma once

#include <string>
#include <vector>

#include "sandbox/plan.h"

namespace ttyward::sandbox {

// `path` is the command's PATH: the folders of it that are in the home folder are shown.
void add_home(Plan& plan, const std::string& path);

// Tools and caches that variables (NAME=value) and PATH name outside of it: CARGO_HOME, GOPATH and their
// relatives. After everything that is hidden is known.
void add_tools_elsewhere(Plan& plan, const std::string& path, const std::vector<std::string>& variables);

}  // namespace ttyward::sandbox
