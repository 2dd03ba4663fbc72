// The player of an exported page: its script and its style, as they stand in the page.
#pragma once

#include <string_view>

namespace ttyward::record {

extern const std::string_view kPlayerScript;
extern const std::string_view kPlayerStyle;

}  // namespace ttyward::record
