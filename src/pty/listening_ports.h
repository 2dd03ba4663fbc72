// The TCP ports that processes listen on: their socket descriptors matched
// against the kernel's table of their own network namespace.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace ttyward::pty {

struct ListeningPort {
  uint16_t port = 0;
  pid_t pid = 0;
  std::string address;  // "127.0.0.1", "::", as the socket is bound

  bool operator==(const ListeningPort&) const = default;
};

// Sorted by port; a port that several processes share is named once for each
// address, with the lowest of them. nullopt if the tables cannot be read;
// processes that hide their descriptors are left out.
std::optional<std::vector<ListeningPort>> listening_ports(std::span<const pid_t> pids);

struct ListeningSocket {
  uint64_t inode = 0;
  uint16_t port = 0;
  std::string address;

  bool operator==(const ListeningSocket&) const = default;
};
// The listening entries of a /proc/net/tcp or tcp6 table.
std::vector<ListeningSocket> parse_tcp_table(std::string_view table);

}  // namespace ttyward::pty
