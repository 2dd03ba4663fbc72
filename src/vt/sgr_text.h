// A style as the parameters of the SGR sequence that makes it, starting from a reset: "0;1;31".
#pragma once

#include <cstdint>
#include <string>

#include "vt/style.h"

namespace ttyward::vt {

// How a colour beyond the first sixteen is written. Semicolons are understood everywhere; colons are how the
// standard has it, and what xterm answers with.
enum class ColorForm : uint8_t { Colons, Semicolons };

std::string sgr_text(const Style& style, ColorForm form);

}  // namespace ttyward::vt
