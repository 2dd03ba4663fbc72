// The manual page, for man(1). Pure: an outline in, roff out.
#pragma once

#include <string>

#include "cli/outline.h"

namespace ttyward::cli {

// ttyward(1): the whole program.
std::string man_page(const Outline& program);
// ttyward-VERB(1): one verb of it.
std::string verb_page(const Outline& program, const Outline& verb);

}  // namespace ttyward::cli
