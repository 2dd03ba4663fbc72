// How far apart two words are: for "did you mean". Pure.
#pragma once

#include <cstddef>
#include <string_view>

namespace ttyward::base {

// How many letters have to be added, removed or replaced. The work is the product of the lengths.
size_t edit_distance(std::string_view a, std::string_view b);

}  // namespace ttyward::base
