#include "proxy/allow_list.h"

#include <algorithm>
#include <charconv>

namespace ttyward::proxy {

using base::ErrorCode;
using base::fail;
using base::Result;

namespace {

constexpr uint16_t kUsualPorts[] = {80, 443};

tl::unexpected<base::Error> bad_rule(std::string_view text) {
  return fail(ErrorCode::InvalidArgument, "\"" + std::string(text) +
                                              "\" is not a rule for hosts: write example.com, *.example.com, "
                                              "example.com:8080, 10.1.2.3 or 10.0.0.0/8");
}

bool is_localhost(const std::string& name) {
  return name == "localhost" || name.ends_with(".localhost");
}

}  // namespace

bool AllowList::Rule::has_port(uint16_t wanted) const {
  if (any_port) return true;
  if (port) return *port == wanted;
  return std::find(std::begin(kUsualPorts), std::end(kUsualPorts), wanted) != std::end(kUsualPorts);
}

bool AllowList::Rule::names(const Host& host) const {
  switch (kind) {
    case Kind::Any:
      return true;
    case Kind::Name:
      return !host.address && host.name == name;
    case Kind::Below:
      return !host.address && host.name.ends_with("." + name);
    case Kind::Network:
      return host.address && host.address->is_in(network, bits);
  }
  return false;
}

Result<AllowList::Rule> AllowList::parse_rule(std::string_view text) {
  Rule rule;
  std::string_view host = text;
  const size_t colon = text.rfind(':');
  const bool in_brackets = colon != std::string_view::npos && text.find(']', colon) != std::string_view::npos;
  const bool bare_v6 = parse_address(text) && colon != std::string_view::npos;
  if (colon != std::string_view::npos && !in_brackets && !bare_v6 &&
      text.find('/', colon) == std::string_view::npos) {
    const std::string_view port = text.substr(colon + 1);
    host = text.substr(0, colon);
    rule.any_port = port == "*";
    if (!rule.any_port) {
      rule.port = parse_port(port);
      if (!rule.port) return bad_rule(text);
    }
  }
  if (host == "*") {
    rule.kind = Rule::Kind::Any;
    return rule;
  }
  if (const size_t slash = host.find('/'); slash != std::string_view::npos) {
    std::string_view network = host.substr(0, slash);
    if (network.starts_with('[') && network.ends_with(']')) network = network.substr(1, network.size() - 2);
    const auto address = parse_address(network);
    const std::string_view length = host.substr(slash + 1);
    const auto [end, error] = std::from_chars(length.data(), length.data() + length.size(), rule.bits);
    const int most = address && address->v6 ? 128 : 32;
    if (!address || error != std::errc() || end != length.data() + length.size() || rule.bits < 1 ||
        rule.bits > most)
      return bad_rule(text);
    rule.kind = Rule::Kind::Network;
    rule.network = *address;
    return rule;
  }
  const bool below = host.starts_with("*.");
  auto parsed = parse_host(below ? host.substr(2) : host);
  if (!parsed || (below && parsed->address)) return bad_rule(text);
  if (parsed->address) {
    rule.kind = Rule::Kind::Network;
    rule.network = *parsed->address;
    rule.bits = rule.network.v6 ? 128 : 32;
    return rule;
  }
  rule.kind = below ? Rule::Kind::Below : Rule::Kind::Name;
  rule.name = std::move(parsed->name);
  return rule;
}

Result<AllowList> AllowList::parse(const std::vector<std::string>& rules) {
  AllowList made;
  for (const std::string& text : rules) {
    auto rule = parse_rule(text);
    if (!rule) return tl::unexpected(rule.error());
    made.rules_.push_back(std::move(*rule));
  }
  return made;
}

std::optional<std::string> AllowList::refusal(const HostPort& wanted) const {
  bool named = false;
  for (const Rule& rule : rules_) {
    if (!rule.names(wanted.host)) continue;
    named = true;
    if (!rule.has_port(wanted.port)) continue;
    if (wanted.host.address && rule.kind == Rule::Kind::Any) return refusal(wanted, *wanted.host.address);
    return std::nullopt;
  }
  // Another rule may name it with a port; the address itself is checked later.
  if (named) return "port " + std::to_string(wanted.port) + " is not allowed for this host";
  return "the host is not allowed";
}

std::optional<std::string> AllowList::refusal(const HostPort& wanted, const Address& address) const {
  const Reach reach = address.reach();
  if (reach == Reach::Public) return std::nullopt;
  for (const Rule& rule : rules_) {
    if (rule.kind == Rule::Kind::Network && address.is_in(rule.network, rule.bits) &&
        rule.has_port(wanted.port))
      return std::nullopt;
    const bool says_local = rule.kind == Rule::Kind::Name && is_localhost(rule.name);
    if (says_local && reach == Reach::Loopback && rule.names(wanted.host) && rule.has_port(wanted.port))
      return std::nullopt;
  }
  return "it leads to " + address.text() + ", a " + std::string(reach_name(reach)) + " address";
}

}  // namespace ttyward::proxy
