// Taking the text of an OSC apart.
#pragma once

#include <charconv>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace ttyward::vt {

// A whole decimal number, nothing before or after it.
inline std::optional<int> parse_number(std::string_view text) {
  int value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (text.empty() || error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return value;
}

// Splits at every `separator`; "a;;b" has three fields, "" has one.
std::vector<std::string_view> split_fields(std::string_view text, char separator);

// Text that is safe to show: valid UTF-8 without control characters, at most `limit` bytes.
std::string printable(std::string_view text, size_t limit);

// Undoes %41. Broken escapes stay as they are.
std::string percent_decode(std::string_view text);

// Undoes OSC 633's "\\" and "\x3b".
std::string unescape_633(std::string_view text);

}  // namespace ttyward::vt
