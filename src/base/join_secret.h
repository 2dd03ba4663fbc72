// The secret that lets another process join a session without owning it.
//
// A session's owner proves it with its secret, and may speak for a person who answers questions there.
// A client that joins with this one, which is made from it and does not reveal it, is only an agent of the
// session.
#pragma once

#include <string>

#include "base/hex.h"
#include "base/sha256.h"

namespace ttyward::base {

inline std::string join_secret(const std::string& secret) {
  return to_hex(sha256("join " + secret));
}

}  // namespace ttyward::base
