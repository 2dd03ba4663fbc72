#include "mcp/http/guard.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>

#include "base/ids.h"
#include "base/same_secret.h"
#include "base/unique_fd.h"

namespace ttyward::mcp::http {
namespace {

constexpr size_t kMinToken = 32;
constexpr size_t kMaxToken = 4096;

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
  std::string token = base::random_nonce() + base::random_nonce();
  if (::unlink(path.c_str()) != 0 && errno != ENOENT)
    return base::fail_errno(errno, "cannot replace " + path);
  const base::UniqueFd file(::open(path.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600));
  if (!file) return base::fail_errno(errno, "cannot write the token to " + path);
  const std::string line = token + "\n";
  if (::write(file.get(), line.data(), line.size()) != static_cast<ssize_t>(line.size()))
    return base::fail_errno(errno, "cannot write the token to " + path);
  return token;
}

void remove_token_file(const std::string& path, const std::string& token) {
  const auto there = read_token_file(path);
  if (there && *there == token) ::unlink(path.c_str());
}

base::Result<std::string> read_token_file(const std::string& path) {
  const base::UniqueFd file(::open(path.c_str(), O_RDONLY | O_NOFOLLOW | O_CLOEXEC | O_NONBLOCK));
  if (!file) return base::fail_errno(errno, "cannot read the token from " + path);
  struct stat status{};
  if (::fstat(file.get(), &status) != 0) return base::fail_errno(errno, "cannot look at " + path);
  if (!S_ISREG(status.st_mode) || status.st_uid != ::geteuid() || (status.st_mode & 077) != 0)
    return base::fail(base::ErrorCode::PermissionDenied,
                      path + " has to be a file of yours that nobody else may read: chmod 600 it");
  std::string text(kMaxToken, '\0');
  const ssize_t got = ::read(file.get(), text.data(), text.size());
  if (got < 0) return base::fail_errno(errno, "cannot read the token from " + path);
  text.resize(static_cast<size_t>(got));
  while (!text.empty() && (text.back() == '\n' || text.back() == '\r' || text.back() == ' ')) text.pop_back();
  if (text.size() < kMinToken || text.find('\n') != std::string::npos)
    return base::fail(base::ErrorCode::InvalidArgument,
                      path + " has to hold one line of at least 32 characters");
  return text;
}

}  // namespace ttyward::mcp::http
