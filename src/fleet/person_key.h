// The key of the person who calls, for proofs.
#pragma once

#include <optional>
#include <string>

#include "base/result.h"
#include "fleet/invocation/invocation.h"

namespace ttyward::fleet {

struct PersonKey {
  std::string by;
  std::string key;
};

// None: the caller is an agent.
base::Result<std::optional<PersonKey>> person_key(const Invocation& invocation);

}  // namespace ttyward::fleet
