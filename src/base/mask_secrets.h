// Taking secrets out of text that will be kept or shown: history, audit, logs.
//
// Masked are the values of names that say they are secret (PASSWORD=…, --token …,
// "api_key": …), the password options of programs that have them (mysql -p…),
// authorization headers, passwords in URLs, keys in PEM blocks, and tokens with a
// well-known look (ghp_…, sk-…, AKIA…, JWT). What stands for a value without
// being one ($TOKEN, $(cat file)) stays. A secret without a name or a look cannot
// be known; this is a safety net, not a guarantee.
//
// Pure and idempotent. Time grows with the length of the text.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace ttyward::base {

inline constexpr std::string_view kMasked = "***";

std::string mask_secrets(std::string_view text);

// Where in `text` that is: the bytes that mask_secrets() replaces, in order.
struct SecretSpan {
  size_t begin = 0;
  size_t end = 0;
  bool operator==(const SecretSpan&) const = default;
};
std::vector<SecretSpan> secret_spans(std::string_view text);

// Whether a variable's or an option's name says that its value is secret: DB_PASSWORD, apiKey, auth-token.
bool is_secret_name(std::string_view name);

}  // namespace ttyward::base
