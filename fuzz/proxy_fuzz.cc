// Bytes as a client of the sandbox's proxy would send them, and as names of hosts and rules.
#include <cstdlib>
#include <string>
#include <string_view>

#include "proxy/allow_list.h"
#include "proxy/handshake.h"

using namespace ttyward::proxy;

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const std::string_view bytes(reinterpret_cast<const char*>(data), size);
  if (const auto request = read_http(bytes); request && *request) {
    const HttpRequest& read = **request;
    if (read.used > bytes.size()) std::abort();
    // What goes out is one request: one head, without bytes that end a line elsewhere.
    if (!read.connect &&
        (read.head.find("\r\n\r\n") != read.head.size() - 4 || read.head.find('\0') != std::string::npos))
      std::abort();
  }
  if (const auto greeting = read_socks_greeting(bytes); greeting && (*greeting)->used > bytes.size())
    std::abort();
  if (const auto request = read_socks_request(bytes); request && *request && (*request)->used > bytes.size())
    std::abort();
  if (const auto host = parse_host(bytes)) {
    // The form in which names are compared is a fixed point.
    const auto again = parse_host(host->text());
    if (!again || !(*again == *host)) std::abort();
    if (const auto list = AllowList::parse({host->text() + ":443"}))
      if (list->refusal(HostPort{*host, 443})) std::abort();
  }
  static_cast<void>(AllowList::parse({std::string(bytes)}));
  return 0;
}
