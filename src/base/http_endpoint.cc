#include "base/http_endpoint.h"

#include <charconv>

namespace ttyward::base {
namespace {

constexpr std::string_view kScheme = "http://";
constexpr size_t kLongest = 1024;

auto wrong(const std::string& message) {
  return fail(ErrorCode::InvalidArgument, message);
}

bool is_host(std::string_view text) {
  return !text.empty() &&
         text.find_first_not_of("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789.-_") ==
             std::string_view::npos;
}

bool is_address_v6(std::string_view text) {
  return !text.empty() && text.find_first_not_of("0123456789abcdefABCDEF:.") == std::string_view::npos;
}

// What a request line takes as it is.
bool is_path(std::string_view text) {
  for (const char c : text) {
    if (c <= ' ' || c >= 0x7F || c == '?' || c == '#') return false;
  }
  return true;
}

}  // namespace

std::string HttpEndpoint::authority() const {
  const bool v6 = host.find(':') != std::string::npos;
  return (v6 ? "[" + host + "]" : host) + ":" + std::to_string(port);
}

Result<HttpEndpoint> parse_http_endpoint(std::string_view text) {
  if (text.starts_with("https://"))
    return wrong(
        "https is not supported: run a collector on this machine that forwards over TLS, and write its "
        "address, such as http://127.0.0.1:4318");
  if (!text.starts_with(kScheme) || text.size() > kLongest)
    return wrong("write an address such as http://127.0.0.1:4318");
  const std::string_view rest = text.substr(kScheme.size());
  const size_t slash = rest.find('/');
  const std::string_view authority = rest.substr(0, slash);
  std::string_view path = slash == std::string_view::npos ? std::string_view() : rest.substr(slash);
  if (authority.find('@') != std::string_view::npos)
    return wrong("a user or a password in the address is not supported");
  if (!is_path(path)) return wrong("the path may hold neither spaces, nor ? and what follows it, nor #");
  while (path.ends_with('/')) path.remove_suffix(1);
  HttpEndpoint endpoint;
  endpoint.path = path;
  std::string_view port;
  if (authority.starts_with('[')) {
    const size_t end = authority.find(']');
    if (end == std::string_view::npos) return wrong("an IPv6 address is written as in http://[::1]:4318");
    endpoint.host = authority.substr(1, end - 1);
    port = authority.substr(end + 1);
    if (!is_address_v6(endpoint.host)) return wrong("an IPv6 address is written as in http://[::1]:4318");
  } else {
    const size_t colon = authority.find(':');
    endpoint.host = authority.substr(0, colon);
    if (colon != std::string_view::npos) port = authority.substr(colon);
    if (!is_host(endpoint.host)) return wrong("write an address such as http://127.0.0.1:4318");
  }
  if (port.empty()) return endpoint;
  const char* const end = port.data() + port.size();
  const auto [at, error] = std::from_chars(port.data() + 1, end, endpoint.port);
  if (port.front() != ':' || error != std::errc() || at != end || endpoint.port == 0)
    return wrong("the port is a number from 1 to 65535");
  return endpoint;
}

}  // namespace ttyward::base
