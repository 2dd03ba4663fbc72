// Variables that keep ordinary programs from running code on their own: what the policy calls harmless for an
// agent is harmless only with these set.
//
// They are set where an agent's terminal or command gets its environment and apply to approved commands, too:
// nothing here switches off what a person asked for (hooks of `git commit` run). Taking them away is never
// harmless (policy/assignments.cc knows their names).
#pragma once

#include <functional>
#include <map>
#include <string>

namespace ttyward::pty {

void add_guard_variables(std::map<std::string, std::string, std::less<>>& variables);

}  // namespace ttyward::pty
