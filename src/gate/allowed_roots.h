// policy.allowed_roots: the folders an agent's commands may run in and change.
//
// Links are followed: what counts is where a command would work. Pure but for that.
#pragma once

#include <optional>
#include <string>
#include <vector>

namespace ttyward::gate {

// The root that `cwd` is in, the innermost where there are several; nullopt: it is in none of them.
std::optional<std::string> root_of(const std::vector<std::string>& roots, const std::string& cwd);

// Why agents may not work in `cwd`; empty if they may. Links are followed.
std::string outside_roots(const std::vector<std::string>& roots, const std::string& cwd);

}  // namespace ttyward::gate
