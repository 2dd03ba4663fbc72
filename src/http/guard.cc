#include "http/guard.h"

#include <unistd.h>

#include <cerrno>

#include "base/same_secret.h"
#include "base/secret_file.h"

namespace ttyward::http {
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
  return same_name(host, "localhost") || host == "127.0.0.1" || host == "[::1]";
}

bool is_our_host(std::string_view host, const Admission& admission) {
  const Authority parts = split(host);
  // Browsers leave out port 80 alone: for pages the port is part of who we are.
  const bool lacks_port = parts.port.empty() && admission.port != 80;
  if (admission.origins == Admission::Origins::Same && lacks_port) return false;
  if (is_local_host(host, admission.port)) return true;
  return !admission.own_name.empty() && same_name(parts.host, admission.own_name) &&
         parts.port == std::to_string(admission.port);
}

bool is_foreign(const Request& request, const std::string& host, Admission::Origins allowed) {
  const bool given = request.count("origin") > 0;
  const auto origin = request.header("origin");
  if (given && !origin) return true;
  if (allowed == Admission::Origins::AnyLocal) return given && !is_local_origin(*origin);
  const bool only_reads = (request.method == "GET" || request.method == "HEAD") && !request.is_upgrade;
  if (!given) return !only_reads;
  return !same_name(*origin, "http://" + host);
}

bool has_cookie(const Request& request, const Admission& admission) {
  if (admission.cookie_name.empty() || !admission.is_good_cookie) return false;
  const auto cookie = request.cookie(admission.cookie_name);
  return cookie && admission.is_good_cookie(*cookie);
}

}  // namespace

bool has_token(const Request& request, const std::string& token) {
  const std::string given = request.header("authorization").value_or("");
  constexpr std::string_view kScheme = "bearer ";
  return !token.empty() && given.size() > kScheme.size() &&
         same_name(std::string_view(given).substr(0, kScheme.size()), kScheme) &&
         base::same_secret(std::string_view(given).substr(kScheme.size()), token);
}

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

Refusal check(const Request& request, const Admission& admission) {
  const auto host = request.header("host");
  if (!host || !is_our_host(*host, admission))
    return {403,
            "the Host header must name this machine (localhost, 127.0.0.1 or [::1]) and the server's port\n"};
  if (is_foreign(request, *host, admission.origins))
    return {403, "requests from other origins are not allowed\n"};
  const bool open = admission.token.empty() && admission.cookie_name.empty();
  if (open || has_token(request, admission.token) || has_cookie(request, admission)) return {};
  return {401, admission.how_to_authenticate};
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

}  // namespace ttyward::http
