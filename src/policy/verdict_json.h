// A verdict as the JSON object every front end shows: docs/protocol/socket.md, Verdict.
#pragma once

#include <string>

#include "policy/verdict.h"

namespace ttyward::policy {

// Texts are escaped as for people: a command's own bytes never reach a reader raw.
std::string to_json(const Verdict& verdict);

// The gravest reasons in one sentence, for whoever has to act on them.
std::string summary_of(const Verdict& verdict);

}  // namespace ttyward::policy
