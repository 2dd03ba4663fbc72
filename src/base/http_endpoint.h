// The address of an HTTP server to which we send: http://HOST[:PORT][/PATH].
//
// Plain HTTP only: there is no TLS in this program. Pure.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "base/result.h"

namespace ttyward::base {

struct HttpEndpoint {
  std::string host;  // a name or an address, without brackets
  uint16_t port = 80;
  std::string path;  // "" or "/some/where", without a slash at its end

  // As a Host header has it: "127.0.0.1:4318", "[::1]:4318".
  std::string authority() const;
  bool operator==(const HttpEndpoint&) const = default;
};

// The error says what to write instead.
Result<HttpEndpoint> parse_http_endpoint(std::string_view text);

}  // namespace ttyward::base
