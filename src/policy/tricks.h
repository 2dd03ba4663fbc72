// Things that mislead a reader, or that an interactive shell does to a line before parsing it.
#pragma once

#include <string_view>

#include "policy/facts.h"

namespace ttyward::policy {

// History expansion makes the line ask; a misleading # only raises the risk of a line that asks anyway.
void find_tricks(std::string_view text, Facts& facts);

}  // namespace ttyward::policy
