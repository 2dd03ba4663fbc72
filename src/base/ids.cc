#include "base/ids.h"

#include <sys/random.h>

#include <cstdint>

#include "base/check.h"
#include "base/hex.h"

namespace ttyward::base {
namespace {

constexpr std::string_view kLetters = "abcdefghijklmnopqrstuvwxyz234567";
constexpr size_t kLength = 12;

void fill_random(uint8_t* out, size_t n) {
  // Up to 256 bytes come whole or, before the pool is ready, after a wait.
  TTYWARD_CHECK(::getrandom(out, n, 0) == static_cast<ssize_t>(n));
}

}  // namespace

std::string random_id(char kind) {
  uint8_t bytes[kLength];
  fill_random(bytes, sizeof bytes);
  std::string id(1, kind);
  for (const uint8_t byte : bytes) id += kLetters[byte & 31];
  return id;
}

bool is_id(std::string_view text, char kind) {
  return text.size() == kLength + 1 && text.front() == kind &&
         text.find_first_not_of(kLetters, 1) == std::string_view::npos;
}

std::string random_nonce() {
  uint8_t bytes[16];
  fill_random(bytes, sizeof bytes);
  return to_hex(bytes);
}

}  // namespace ttyward::base
