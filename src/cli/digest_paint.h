// A digest for a person's terminal: what went wrong stands out, counts and gaps step back.
#pragma once

#include <string>
#include <string_view>

#include "cli/colour.h"

namespace ttyward::cli {

std::string painted_digest(std::string_view text, const Paint& paint);

}  // namespace ttyward::cli
