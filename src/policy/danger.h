// Catastrophes that hide in text of another language.
#pragma once

#include <functional>
#include <string_view>

#include "policy/invocation.h"

namespace ttyward::policy {

// Looks through code in Python, Perl, Ruby, JavaScript … for shell commands in its strings and for calls
// that remove trees. It can only make a verdict stricter.
void check_foreign_code(Invocation& call, std::string_view code);

// Judges something that may or may not run. Only a catastrophe is kept of what is found.
void deny_only(Invocation& call, const std::function<void()>& judge);

}  // namespace ttyward::policy
