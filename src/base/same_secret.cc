#include "base/same_secret.h"

#include <cstddef>

namespace ttyward::base {

bool same_secret(std::string_view given, std::string_view secret) {
  unsigned difference = given.size() == secret.size() ? 0u : 1u;
  for (size_t i = 0; i < secret.size(); i++) {
    const char mine = secret[i];
    const char theirs = given.empty() ? '\0' : given[i % given.size()];
    difference |=
        static_cast<unsigned>(static_cast<unsigned char>(mine) ^ static_cast<unsigned char>(theirs));
  }
  return difference == 0;
}

}  // namespace ttyward::base
