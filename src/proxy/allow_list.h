// Which hosts a confined command may reach: a value made of rules.
//
//   example.com           this name, ports 80 and 443
//   example.com:22        this name and port
//   example.com:*         every port
//   *.example.com         every name below it, not itself
//   *                     every name and public address
//   10.1.2.3, [fd00::1]   this address; 10.0.0.0/8 all of a network
//
// A name says nothing about where it leads: an address that is not public (private, loopback, link-local,
// reserved) is reached only if a rule names that address or its network, or if the name is localhost and a
// rule says so. Otherwise the owner of a name could point it at this machine (DNS rebinding). Pure.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "proxy/host.h"

namespace ttyward::proxy {

class AllowList {
 public:
  // The error names the rule and says what to write.
  static base::Result<AllowList> parse(const std::vector<std::string>& rules);

  bool operator==(const AllowList&) const = default;

  // Why the host must not be asked for; nullopt: it may, if its addresses are good.
  std::optional<std::string> refusal(const HostPort& wanted) const;
  // The same of an address that `wanted` was resolved to.
  std::optional<std::string> refusal(const HostPort& wanted, const Address& address) const;

 private:
  struct Rule {
    enum class Kind : uint8_t { Any, Name, Below, Network };
    Kind kind = Kind::Name;
    std::string name;
    Address network;
    int bits = 0;
    bool any_port = false;
    std::optional<uint16_t> port;

    bool operator==(const Rule&) const = default;
    bool has_port(uint16_t wanted) const;
    bool names(const Host& host) const;
  };
  static base::Result<Rule> parse_rule(std::string_view text);

  std::vector<Rule> rules_;
};

}  // namespace ttyward::proxy
