// The scenes of the tour. Each shows one thing for real and claims what came of it.
#pragma once

#include <span>

#include "cli/demo/stage.h"
#include "cli/demo/teller.h"

namespace ttyward::cli::demo {

using Scene = void (*)(Stage& stage, Teller& tell);
std::span<const Scene> scenes();

}  // namespace ttyward::cli::demo
