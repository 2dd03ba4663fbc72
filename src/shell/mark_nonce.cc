#include "shell/mark_nonce.h"

#include <span>

#include "base/hex.h"
#include "base/sha256.h"

namespace ttyward::shell {

std::string mark_nonce(std::string_view secret, uint64_t index) {
  const base::Digest digest = base::hmac_sha256(secret, "mark " + std::to_string(index));
  return base::to_hex(std::span(digest).first(16));
}

}  // namespace ttyward::shell
