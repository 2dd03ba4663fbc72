// "Always allow": the narrowest rules that cover what was asked, and one step wider.
//
// Narrow means: this program with these arguments, in this folder, for the effects
// that were objected to, with the content its script has now. The rules are shown
// to a person, in words and as text, before they are stored.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "policy/facts.h"
#include "policy/rules.h"

namespace ttyward::policy {

struct AlwaysOffer {
  std::vector<Rule> rules;    // the narrowest; empty: it cannot be allowed for good
  std::vector<Rule> wider;    // one step wider; empty: there is none
  bool session_only = false;  // critical: one exact command in one folder, and not longer than a session
};

// `place` is the one `facts` were read for. Empty for lines that are refused, that are not understood, or
// that depend on more than their text.
AlwaysOffer offer_always(std::string_view command, const Facts& facts, const Place& place);

}  // namespace ttyward::policy
