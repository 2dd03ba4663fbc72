// What changed between two texts, as lines with - and +.
#pragma once

#include <string>

namespace ttyward::cli::setup {

// Changed lines and up to two lines around them; secrets are masked. Empty if nothing changed.
std::string line_diff(const std::string& before, const std::string& after);

}  // namespace ttyward::cli::setup
