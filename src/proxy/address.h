// An internet address, and what kind of place it leads to.
#pragma once

#include <sys/socket.h>

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace ttyward::proxy {

// Where an address leads. Only Public ones may be reached without being named.
enum class Reach : uint8_t {
  Public,
  Private,    // networks of their own: RFC 1918, shared address space, unique local
  Loopback,   // this machine
  LinkLocal,  // the same wire; metadata services of clouds are here
  Reserved,   // unspecified, multicast, documentation, and whatever else is no host on the internet
};
std::string_view reach_name(Reach reach);

struct Address {
  bool v6 = false;
  std::array<uint8_t, 16> bytes{};  // of IPv4: the first four

  auto operator<=>(const Address&) const = default;
  Reach reach() const;
  std::string text() const;
  // Whether the first `bits` bits are those of `network`.
  bool is_in(const Address& network, int bits) const;
  // For connect(2). Returns its length.
  socklen_t fill(sockaddr_storage& into, uint16_t port) const;
};

// The usual forms: four decimal numbers, or IPv6 without a zone. An IPv4 address that is written as an IPv6
// one (::ffff:a.b.c.d) is the IPv4 address.
std::optional<Address> parse_address(std::string_view text);
// What programs take for an IPv4 address beside that: 127.1, 0x7f000001, 2130706433, 0177.0.0.1.
std::optional<Address> parse_loose_v4(std::string_view text);
std::optional<Address> address_of(const sockaddr& from);

}  // namespace ttyward::proxy
