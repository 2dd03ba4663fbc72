#include "fleet/person_key.h"

#include <cstdlib>

#include "base/secret_file.h"

namespace ttyward::fleet {

base::Result<std::optional<PersonKey>> person_key(const Invocation& invocation) {
  if (invocation.person_key_file.empty()) {
    if (!invocation.as.empty())
      return base::fail(base::ErrorCode::InvalidArgument, "--as needs the person's key: --person-key FILE");
    return std::optional<PersonKey>();
  }
  auto key = base::read_secret_file(invocation.person_key_file);
  if (!key) return tl::unexpected(key.error());
  return std::optional<PersonKey>(PersonKey{invocation.as, std::move(*key)});
}

}  // namespace ttyward::fleet
