// What is visible of the home folder: installed tools and caches of packages, no keys. Internal to profile.h.
#pragma once

#include <string>
#include <vector>

#include "sandbox/plan.h"

namespace ttyward::sandbox {

// `path` is the command's PATH: the folders of it that are in the home folder are shown.
void add_home(Plan& plan, const std::string& path);

}  // namespace ttyward::sandbox
