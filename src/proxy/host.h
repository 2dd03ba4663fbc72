// A host as a request or a rule names it, in the one form in which names are compared.
//
// Lower case, no trailing dot, international names in their ASCII form (xn--), and whatever any program takes
// for an address is an address. A name that is not a host name (a NUL, a space, a percent sign, an empty or
// overlong label) is none: it is refused, never repaired. Pure.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "base/result.h"
#include "proxy/address.h"

namespace ttyward::proxy {

struct Host {
  std::string name;  // empty if it is an address
  std::optional<Address> address;

  bool operator==(const Host&) const = default;
  std::string text() const;  // an IPv6 address in brackets
};

// "Example.COM.", "[::1]", "127.1", "bücher.example".
base::Result<Host> parse_host(std::string_view text);

struct HostPort {
  Host host;
  uint16_t port = 0;
  bool operator==(const HostPort&) const = default;
  std::string text() const;
};
// "host:port"; without a port, `usual`. 0: there has to be one.
base::Result<HostPort> parse_host_port(std::string_view text, uint16_t usual);
// A decimal number from 1 to 65535, without signs or leading zeros.
std::optional<uint16_t> parse_port(std::string_view text);

}  // namespace ttyward::proxy
