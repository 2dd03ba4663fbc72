// Names for terminals and commands: a letter and 60 random bits, short enough to type.
#pragma once

#include <string>
#include <string_view>

namespace ttyward::base {

// `kind` followed by 12 characters of a–z and 2–7.
std::string random_id(char kind);
// Whether it has that form, whoever made it: such a name is safe in paths and logs.
bool is_id(std::string_view text, char kind);
// 128 random bits in hexadecimal: for marks nobody else may fake.
std::string random_nonce();

}  // namespace ttyward::base
