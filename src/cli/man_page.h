// The manual page, for man(1). Pure: an outline in, roff out.
#pragma once

#include <string>

#include "cli/outline.h"

namespace ttyward::cli {

std::string man_page(const Outline& program);

}  // namespace ttyward::cli
