// "Always allow": the rule that says what was meant.
//
// Not a prefix of the text, but the program, its subcommand and the effect that
// was objected to. The rules are shown to the person before they are stored.
#pragma once

#include <vector>

#include "policy/facts.h"
#include "policy/rules.h"

namespace ttyward::policy {

// One rule for each objection that a rule can take away. Empty if there is none: a line that is not
// understood, or that is refused, cannot be allowed for good.
std::vector<Rule> rules_for_always(const Facts& facts, RuleLevel level);

}  // namespace ttyward::policy
