// Text for a terminal's log without the secrets in it.
#pragma once

#include <string>
#include <vector>

namespace ttyward::engine {

std::vector<std::string> masked(const std::vector<std::string>& words);
// JSON with every string in it masked; empty if it is no JSON.
std::string masked_json(const std::string& text);

}  // namespace ttyward::engine
