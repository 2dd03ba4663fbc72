// Comparing what somebody sent with what only who may send it knows.
#pragma once

#include <string_view>

namespace ttyward::base {

// Takes as long for a wrong text as for the right one.
bool same_secret(std::string_view given, std::string_view secret);

}  // namespace ttyward::base
