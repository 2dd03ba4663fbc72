// What --version says: this program's version, and those of what others may have to match.
#pragma once

#include <string>

namespace ttyward::cli {

std::string version_text();
// The same as one JSON object.
std::string version_json();

}  // namespace ttyward::cli
