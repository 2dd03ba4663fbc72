#include "proxy/address.h"

#include <arpa/inet.h>
#include <netinet/in.h>

#include <algorithm>
#include <cstring>

#include "base/hex.h"

namespace ttyward::proxy {
namespace {

struct Network {
  const char* text;
  int bits;
  Reach reach;
};

// From IANA's registries of special-purpose addresses.
constexpr Network kV4[] = {
    {"0.0.0.0", 8, Reach::Reserved},       {"10.0.0.0", 8, Reach::Private},
    {"100.64.0.0", 10, Reach::Private},    {"127.0.0.0", 8, Reach::Loopback},
    {"169.254.0.0", 16, Reach::LinkLocal}, {"172.16.0.0", 12, Reach::Private},
    {"192.0.0.0", 24, Reach::Reserved},    {"192.0.2.0", 24, Reach::Reserved},
    {"192.88.99.0", 24, Reach::Reserved},  {"192.168.0.0", 16, Reach::Private},
    {"198.18.0.0", 15, Reach::Private},    {"198.51.100.0", 24, Reach::Reserved},
    {"203.0.113.0", 24, Reach::Reserved},  {"224.0.0.0", 4, Reach::Reserved},
    {"240.0.0.0", 4, Reach::Reserved},
};
constexpr Network kV6[] = {
    {"::", 128, Reach::Reserved},        {"::1", 128, Reach::Loopback},
    {"64:ff9b:1::", 48, Reach::Private}, {"100::", 64, Reach::Reserved},
    {"2001::", 32, Reach::Reserved},     {"2001:10::", 28, Reach::Reserved},
    {"2001:20::", 28, Reach::Reserved},  {"2001:db8::", 32, Reach::Reserved},
    {"3fff::", 20, Reach::Reserved},     {"5f00::", 16, Reach::Reserved},
    {"fc00::", 7, Reach::Private},       {"fe80::", 10, Reach::LinkLocal},
    {"fec0::", 10, Reach::Private},      {"ff00::", 8, Reach::Reserved},
};
// IPv6 addresses that carry an IPv4 address, and where: the compatible, the translated (NAT64) and 6to4.
struct Carrier {
  const char* text;
  int bits;
  size_t at;
};
constexpr Carrier kCarriers[] = {{"::ffff:0:0", 96, 12},
                                 {"::", 96, 12},
                                 {"::ffff:0:0:0", 96, 12},
                                 {"64:ff9b::", 96, 12},
                                 {"2002::", 16, 2}};

Address plain(const char* text) {
  Address made;
  made.v6 = std::strchr(text, ':') != nullptr;
  ::inet_pton(made.v6 ? AF_INET6 : AF_INET, text, made.bytes.data());
  return made;
}

Address v4_at(const Address& from, size_t at) {
  Address made;
  std::copy_n(from.bytes.begin() + static_cast<ptrdiff_t>(at), 4, made.bytes.begin());
  return made;
}

}  // namespace

std::string_view reach_name(Reach reach) {
  switch (reach) {
    case Reach::Public:
      return "public";
    case Reach::Private:
      return "private";
    case Reach::Loopback:
      return "loopback";
    case Reach::LinkLocal:
      return "link-local";
    case Reach::Reserved:
      return "reserved";
  }
  return "";
}

bool Address::is_in(const Address& network, int bits) const {
  if (v6 != network.v6) return false;
  for (int i = 0; i < bits; i++) {
    const auto byte = static_cast<size_t>(i / 8);
    const int mask = 0x80 >> (i % 8);
    if (((bytes[byte] ^ network.bytes[byte]) & mask) != 0) return false;
  }
  return true;
}

Reach Address::reach() const {
  if (!v6) {
    for (const Network& each : kV4)
      if (is_in(plain(each.text), each.bits)) return each.reach;
    return Reach::Public;
  }
  for (const Network& each : kV6)
    if (is_in(plain(each.text), each.bits)) return each.reach;
  for (const Carrier& each : kCarriers)
    if (is_in(plain(each.text), each.bits)) return v4_at(*this, each.at).reach();
  // Whatever is not global unicast (2000::/3) is no host.
  return is_in(plain("2000::"), 3) ? Reach::Public : Reach::Reserved;
}

std::string Address::text() const {
  char out[INET6_ADDRSTRLEN] = {};
  ::inet_ntop(v6 ? AF_INET6 : AF_INET, bytes.data(), out, sizeof out);
  return out;
}

socklen_t Address::fill(sockaddr_storage& into, uint16_t port) const {
  into = {};
  if (v6) {
    sockaddr_in6 made{};
    made.sin6_family = AF_INET6;
    made.sin6_port = htons(port);
    std::memcpy(&made.sin6_addr, bytes.data(), 16);
    std::memcpy(&into, &made, sizeof made);
    return sizeof made;
  }
  sockaddr_in made{};
  made.sin_family = AF_INET;
  made.sin_port = htons(port);
  std::memcpy(&made.sin_addr, bytes.data(), 4);
  std::memcpy(&into, &made, sizeof made);
  return sizeof made;
}

std::optional<Address> parse_address(std::string_view text) {
  if (text.size() >= INET6_ADDRSTRLEN || text.find('\0') != std::string_view::npos) return std::nullopt;
  const std::string copy(text);
  Address made;
  made.v6 = copy.find(':') != std::string::npos;
  if (::inet_pton(made.v6 ? AF_INET6 : AF_INET, copy.c_str(), made.bytes.data()) != 1) return std::nullopt;
  if (made.v6 && made.is_in(plain("::ffff:0:0"), 96)) return v4_at(made, 12);
  return made;
}

std::optional<Address> parse_loose_v4(std::string_view text) {
  uint64_t parts[4] = {};
  size_t count = 0;
  for (;;) {
    const size_t dot = text.find('.');
    std::string_view part = text.substr(0, dot);
    if (count == 4 || part.empty() || part.size() > 16) return std::nullopt;
    unsigned base = 10;
    if (part.size() > 1 && part[0] == '0') {
      base = part[1] == 'x' || part[1] == 'X' ? 16 : 8;
      part.remove_prefix(base == 16 ? 2 : 1);
    }
    uint64_t value = 0;
    for (const char c : part) {
      const int digit = base::hex_digit(c);
      if (digit < 0 || static_cast<unsigned>(digit) >= base) return std::nullopt;
      value = value * base + static_cast<unsigned>(digit);
      if (value > 0xffffffffU) return std::nullopt;
    }
    parts[count++] = value;
    if (dot == std::string_view::npos) break;
    text.remove_prefix(dot + 1);
  }
  // The last number fills all bytes that are left.
  uint64_t whole = parts[count - 1];
  if (whole >= uint64_t{1} << (8 * (5 - count))) return std::nullopt;
  for (size_t i = 0; i + 1 < count; i++) {
    if (parts[i] > 255) return std::nullopt;
    whole |= parts[i] << (8 * (3 - i));
  }
  Address made;
  for (size_t i = 0; i < 4; i++) made.bytes[i] = static_cast<uint8_t>(whole >> (8 * (3 - i)));
  return made;
}

std::optional<Address> address_of(const sockaddr& from) {
  Address made;
  if (from.sa_family == AF_INET) {
    sockaddr_in v4{};
    std::memcpy(&v4, &from, sizeof v4);
    std::memcpy(made.bytes.data(), &v4.sin_addr, 4);
    return made;
  }
  if (from.sa_family != AF_INET6) return std::nullopt;
  sockaddr_in6 v6{};
  std::memcpy(&v6, &from, sizeof v6);
  made.v6 = true;
  std::memcpy(made.bytes.data(), &v6.sin6_addr, 16);
  return made.is_in(plain("::ffff:0:0"), 96) ? v4_at(made, 12) : made;
}

}  // namespace ttyward::proxy
