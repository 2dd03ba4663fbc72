#include "mcp/http/header_value.h"

#include <array>
#include <string_view>

#include "base/utf8.h"

namespace ttyward::mcp::http {
namespace {

int digit(char c) {
  if (c >= 'A' && c <= 'Z') return c - 'A';
  if (c >= 'a' && c <= 'z') return c - 'a' + 26;
  if (c >= '0' && c <= '9') return c - '0' + 52;
  if (c == '+') return 62;
  return c == '/' ? 63 : -1;
}

std::optional<std::string> decode_base64(std::string_view text) {
  if (text.size() % 4 != 0) return std::nullopt;
  size_t padding = 0;
  while (padding < 2 && padding < text.size() && text[text.size() - 1 - padding] == '=') padding++;
  std::string out;
  uint32_t bits = 0;
  for (size_t i = 0; i < text.size(); i++) {
    const bool padded = i >= text.size() - padding;
    const int value = padded ? 0 : digit(text[i]);
    if (value < 0) return std::nullopt;
    bits = bits << 6 | static_cast<uint32_t>(value);
    if (i % 4 == 3) {
      out += static_cast<char>(bits >> 16 & 0xFF);
      out += static_cast<char>(bits >> 8 & 0xFF);
      out += static_cast<char>(bits & 0xFF);
      bits = 0;
    }
  }
  out.resize(out.size() - padding);
  return out;
}

}  // namespace

std::optional<std::string> decode_header_value(const std::optional<std::string>& raw) {
  constexpr std::string_view kBegin = "=?base64?";
  constexpr std::string_view kEnd = "?=";
  if (!raw) return std::nullopt;
  const std::string_view text = *raw;
  if (!text.starts_with(kBegin) || !text.ends_with(kEnd) || text.size() < kBegin.size() + kEnd.size())
    return raw;
  auto decoded = decode_base64(text.substr(kBegin.size(), text.size() - kBegin.size() - kEnd.size()));
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

}  // namespace ttyward::mcp::http
