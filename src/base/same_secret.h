// Compares a secret that a client sent with the expected one.
#pragma once

#include <string_view>

namespace ttyward::base {

// In constant time: how long it takes does not tell how much of it was right.
bool same_secret(std::string_view given, std::string_view secret);

}  // namespace ttyward::base
