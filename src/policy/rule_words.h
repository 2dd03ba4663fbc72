// A rule in words, for people who decide whether to store it.
#pragma once

#include <string>
#include <vector>

#include "policy/rules.h"

namespace ttyward::policy {

// One sentence: "allows `npm test`, with no further arguments, in /home/me/project".
std::string in_words(const Rule& rule);

struct RuleScope {
  std::vector<std::string> covers;
  std::vector<std::string> leaves_out;
};
// What the rule covers and what not, a line each.
RuleScope scope_of(const Rule& rule);

}  // namespace ttyward::policy
