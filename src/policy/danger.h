// Catastrophes that hide in text of another language.
#pragma once

#include <functional>
#include <string_view>

#include "policy/invocation.h"

namespace ttyward::policy {

// Looks through code in Python, Perl, Ruby, JavaScript … for shell commands in its strings and for calls
// that remove trees. It can only make a verdict stricter.
void check_foreign_code(Invocation& call, std::string_view code);

// Text that some program hands to a shell later (a pager, an editor, an alias, a hook): a catastrophe in it
// counts now. It may begin with a mark (`!command`) or with a name (`exec=command`).
void check_command_text(Invocation& call, std::string_view text);

// A file whose content this very line makes (`echo … > x; sh x`, `bash <(echo …)`) is run: a catastrophe in
// it counts.
void check_known_script(Invocation& call, const Field& file);

// Judges something that may or may not run. Only a catastrophe is kept of what is found.
void deny_only(Invocation& call, const std::function<void()>& judge);

}  // namespace ttyward::policy
