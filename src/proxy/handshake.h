// What a client says before its bytes are passed on: an HTTP request (CONNECT, or any method with an absolute
// URL), or SOCKS5. Pure functions of the bytes that came so far.
//
// Strict: whatever two programs could read in two ways is refused. The grammar is that of RFC 9112 (HTTP/1.1)
// and RFC 1928 (SOCKS5) without what they tolerate: lines end with CR LF, no header is folded, a request has
// one length.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "base/result.h"
#include "proxy/host.h"

namespace ttyward::proxy {

enum class Speech : uint8_t { Http, Socks5 };

// Longest head of a request.
inline constexpr size_t kLongestHead = size_t{16} << 10;

// What the bytes so far amount to.
struct HttpRequest {
  HostPort wanted;
  bool connect = false;
  std::string host_text;  // as the client wrote it, escaped by nobody
  // What goes to the server in place of the head: the request with the path alone, the host that was checked,
  // and without what was meant for the proxy. Empty for CONNECT.
  std::string head;
  size_t used = 0;  // bytes of the client's that were the head
};

struct Refusal {
  int status = 400;
  std::string why;
};

// nullopt: more bytes are needed.
std::optional<tl::expected<HttpRequest, Refusal>> read_http(std::string_view bytes);

// The methods a SOCKS5 client offers.
struct SocksGreeting {
  bool no_authentication = false;
  size_t used = 0;
};
std::optional<tl::expected<SocksGreeting, Refusal>> read_socks_greeting(std::string_view bytes);

// Codes of a SOCKS5 answer.
enum class SocksCode : uint8_t {
  Done = 0,
  Failed = 1,
  NotAllowed = 2,
  Unreachable = 4,
  Refused = 5,
  BadCommand = 7,
  BadAddress = 8,
};
struct SocksRequest {
  HostPort wanted;
  std::string host_text;
  size_t used = 0;
};
struct SocksRefusal {
  SocksCode code = SocksCode::Failed;
  std::string why;
  std::string host_text;
};
std::optional<tl::expected<SocksRequest, SocksRefusal>> read_socks_request(std::string_view bytes);

std::string http_answer(int status, std::string_view text);
std::string socks_answer(SocksCode code);

}  // namespace ttyward::proxy
