#include "http/request.h"

namespace ttyward::http {
namespace {

char lower(char c) {
  return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
}

std::string_view trimmed(std::string_view text) {
  const auto blank = [](char c) { return c == ' ' || c == '\t'; };
  while (!text.empty() && blank(text.front())) text.remove_prefix(1);
  while (!text.empty() && blank(text.back())) text.remove_suffix(1);
  return text;
}

}  // namespace

bool same_name(std::string_view a, std::string_view b) {
  if (a.size() != b.size()) return false;
  for (size_t i = 0; i < a.size(); i++) {
    if (lower(a[i]) != lower(b[i])) return false;
  }
  return true;
}

std::optional<std::string> Request::header(std::string_view name) const {
  std::optional<std::string> found;
  for (const auto& [key, value] : headers) {
    if (!same_name(key, name)) continue;
    if (found) return std::nullopt;
    found = std::string(trimmed(value));
  }
  return found;
}

size_t Request::count(std::string_view name) const {
  size_t found = 0;
  for (const auto& [key, value] : headers) found += same_name(key, name) ? 1 : 0;
  return found;
}

std::optional<std::string> Request::cookie(std::string_view name) const {
  std::optional<std::string> found;
  for (const auto& [key, value] : headers) {
    if (!same_name(key, "cookie")) continue;
    std::string_view rest = value;
    while (!rest.empty()) {
      const size_t end = rest.find(';');
      const std::string_view pair = trimmed(rest.substr(0, end));
      rest = end == std::string_view::npos ? std::string_view() : rest.substr(end + 1);
      const size_t equals = pair.find('=');
      if (equals == std::string_view::npos || pair.substr(0, equals) != name) continue;
      if (found) return std::nullopt;
      found = std::string(pair.substr(equals + 1));
    }
  }
  return found;
}

}  // namespace ttyward::http
