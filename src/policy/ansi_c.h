// $'…' strings of bash.
#pragma once

#include <string>
#include <string_view>

namespace ttyward::policy {

// Decodes the inside of $'…' or of echo -e / printf escapes. Returns false if the result holds a
// control character other than newline and tab, or an escape that is not known.
bool decode_ansi_c(std::string_view body, std::string& out);

void append_utf8(std::string& out, char32_t code_point);

}  // namespace ttyward::policy
