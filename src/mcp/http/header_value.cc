#include "mcp/http/header_value.h"

#include <string_view>

#include "base/base64.h"
#include "base/utf8.h"

namespace ttyward::mcp {
std::optional<std::string> decode_header_value(const std::optional<std::string>& raw) {
  constexpr std::string_view kBegin = "=?base64?";
  constexpr std::string_view kEnd = "?=";
  if (!raw) return std::nullopt;
  const std::string_view text = *raw;
  if (!text.starts_with(kBegin) || !text.ends_with(kEnd) || text.size() < kBegin.size() + kEnd.size())
    return raw;
  auto decoded = base::from_base64(text.substr(kBegin.size(), text.size() - kBegin.size() - kEnd.size()));
  if (decoded && !base::is_valid_utf8(*decoded)) return std::nullopt;
  return decoded;
}

bool header_repeats(const std::optional<std::string>& raw, const json::value* argument) {
  if (argument == nullptr || argument->is_null()) return !raw;
  const auto said = decode_header_value(raw);
  if (!said) return false;
  if (argument->is_string())
    return *said == std::string_view(argument->get_string().data(), argument->get_string().size());
  return *said == json::serialize(*argument);
}

}  // namespace ttyward::mcp
