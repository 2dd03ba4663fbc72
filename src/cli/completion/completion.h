// Completion scripts, one per shell. Pure: an outline in, the script's text out.
//
// The scripts are complete in themselves. The one thing they ask a program for is the names of terminals:
// `ttyward completion terminals`, which starts no daemon.
#pragma once

#include <string>

#include "cli/outline.h"

namespace ttyward::cli {

std::string bash_completion(const Outline& program);
std::string zsh_completion(const Outline& program);
std::string fish_completion(const Outline& program);

}  // namespace ttyward::cli
