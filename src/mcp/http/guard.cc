#include "mcp/http/guard.h"

#include <unistd.h>

#include <cerrno>

#include "base/same_secret.h"
#include "base/secret_file.h"

namespace ttyward::mcp::http {
namespace {

struct Authority {
  std::string_view host;
  std::string_view port;  // empty if there is none
};

Authority split(std::string_view text) {
  const size_t bracket = text.rfind(']');
  const size_t colon = text.rfind(':');
  if (colon == std::string_view::npos || (bracket != std::string_view::npos && colon < bracket))
    return {text, {}};
  return {text.substr(0, colon), text.substr(colon + 1)};
}

bool is_loopback_name(std::string_view host) {
  return same_header_name(host, "localhost") || host == "127.0.0.1" || host == "[::1]";
}

}  // namespace

bool is_local_host(std::string_view host, int port) {
  const Authority parts = split(host);
  return is_loopback_name(parts.host) && (parts.port.empty() || parts.port == std::to_string(port));
}

bool is_local_origin(std::string_view origin) {
  for (const std::string_view scheme : {"http://", "https://"}) {
    if (origin.starts_with(scheme)) return is_loopback_name(split(origin.substr(scheme.size())).host);
  }
  return false;
}

Refusal check_peer(const HttpRequest& request, int port, const std::string& token) {
  const auto host = request.header("host");
  if (!host || !is_local_host(*host, port))
    return {403, "the Host header has to name this machine: localhost, 127.0.0.1 or [::1], and our port\n"};
  if (request.count("origin") > 0) {
    const auto origin = request.header("origin");
    if (!origin || !is_local_origin(*origin)) return {403, "pages from elsewhere may not use this server\n"};
  }
  if (token.empty()) return {};
  const std::string given = request.header("authorization").value_or("");
  constexpr std::string_view kScheme = "bearer ";
  const bool bearer = given.size() > kScheme.size() &&
                      same_header_name(std::string_view(given).substr(0, kScheme.size()), kScheme);
  if (bearer && base::same_secret(std::string_view(given).substr(kScheme.size()), token)) return {};
  return {401,
          "send the header \"Authorization: Bearer TOKEN\"; ttyward mcp said at its start which file has the "
          "token\n"};
}

base::Result<std::string> make_token_file(const std::string& path) {
  std::string token = base::random_secret();
  if (::unlink(path.c_str()) != 0 && errno != ENOENT)
    return base::fail_errno(errno, "cannot replace " + path);
  if (auto written = base::write_secret_file(path, token); !written) return tl::unexpected(written.error());
  return token;
}

void remove_token_file(const std::string& path, const std::string& token) {
  const auto there = base::read_secret_file(path);
  if (there && *there == token) ::unlink(path.c_str());
}

}  // namespace ttyward::mcp::http
