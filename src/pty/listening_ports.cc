#include "pty/listening_ports.h"

#include <arpa/inet.h>
#include <unistd.h>

#include <algorithm>
#include <charconv>
#include <cstring>
#include <map>
#include <tuple>

#include "pty/proc.h"

namespace ttyward::pty {
namespace {

constexpr std::string_view kListen = "0A";
constexpr size_t kLargestTable = 16 << 20;  // some 100 000 sockets

std::vector<std::string_view> fields_of(std::string_view line) {
  std::vector<std::string_view> fields;
  while (true) {
    line.remove_prefix(std::min(line.find_first_not_of(' '), line.size()));
    if (line.empty()) return fields;
    const size_t end = std::min(line.find(' '), line.size());
    fields.push_back(line.substr(0, end));
    line.remove_prefix(end);
  }
}

template <typename Number>
bool parse(std::string_view text, Number& into, int number_base) {
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), into, number_base);
  return error == std::errc() && end == text.data() + text.size();
}

// The kernel prints each 32-bit word of the address as a number of this machine.
std::optional<std::string> address_text(std::string_view hex) {
  uint32_t words[4] = {};
  const size_t count = hex.size() / 8;
  if (hex.size() % 8 != 0 || (count != 1 && count != 4)) return std::nullopt;
  for (size_t i = 0; i < count; ++i)
    if (!parse(hex.substr(i * 8, 8), words[i], 16)) return std::nullopt;
  char text[INET6_ADDRSTRLEN] = {};
  if (::inet_ntop(count == 1 ? AF_INET : AF_INET6, words, text, sizeof text) == nullptr) return std::nullopt;
  return text;
}

std::optional<ListeningSocket> parse_line(std::string_view line) {
  const auto fields = fields_of(line);
  constexpr size_t kLocal = 1, kState = 3, kInode = 9;
  if (fields.size() <= kInode || fields[kState] != kListen) return std::nullopt;
  const size_t colon = fields[kLocal].find(':');
  if (colon == std::string_view::npos) return std::nullopt;
  ListeningSocket socket;
  auto address = address_text(fields[kLocal].substr(0, colon));
  if (!address || !parse(fields[kLocal].substr(colon + 1), socket.port, 16) ||
      !parse(fields[kInode], socket.inode, 10))
    return std::nullopt;
  socket.address = std::move(*address);
  return socket;
}

std::string link_target(const std::string& path) {
  char target[256];
  const ssize_t n = ::readlink(path.c_str(), target, sizeof target);
  return n > 0 ? std::string(target, static_cast<size_t>(n)) : std::string();
}

using Table = std::map<uint64_t, ListeningSocket>;

// Nullopt: not readable. A kernel without IPv6 has no second table.
std::optional<Table> read_tables(pid_t pid) {
  const std::string folder = "/proc/" + std::to_string(pid) + "/net/";
  const auto tcp = read_proc_file(folder + "tcp", kLargestTable);
  if (!tcp) return std::nullopt;
  Table table;
  for (const auto& text : {*tcp, read_proc_file(folder + "tcp6", kLargestTable).value_or("")})
    for (ListeningSocket& socket : parse_tcp_table(text)) table.emplace(socket.inode, std::move(socket));
  return table;
}

std::vector<uint64_t> socket_inodes(pid_t pid) {
  std::vector<uint64_t> inodes;
  const std::string folder = "/proc/" + std::to_string(pid) + "/fd/";
  for (const int fd : list_descriptors(pid).value_or(std::vector<int>{})) {
    const std::string target = link_target(folder + std::to_string(fd));
    uint64_t inode = 0;
    if (target.starts_with("socket:[") &&
        parse(std::string_view(target).substr(8, target.size() - 9), inode, 10))
      inodes.push_back(inode);
  }
  return inodes;
}

}  // namespace

std::vector<ListeningSocket> parse_tcp_table(std::string_view table) {
  std::vector<ListeningSocket> sockets;
  while (!table.empty()) {
    const size_t end = std::min(table.find('\n'), table.size());
    if (auto socket = parse_line(table.substr(0, end))) sockets.push_back(std::move(*socket));
    table.remove_prefix(std::min(end + 1, table.size()));
  }
  return sockets;
}

std::optional<std::vector<ListeningPort>> listening_ports(std::span<const pid_t> pids) {
  std::map<std::string, std::optional<Table>> by_namespace;
  std::vector<ListeningPort> ports;
  bool unreadable = false;
  for (const pid_t pid : pids) {
    const auto inodes = socket_inodes(pid);
    if (inodes.empty()) continue;
    const std::string name = link_target("/proc/" + std::to_string(pid) + "/ns/net");
    auto it = by_namespace.find(name);
    if (it == by_namespace.end()) it = by_namespace.emplace(name, read_tables(pid)).first;
    unreadable = unreadable || !it->second;
    if (!it->second) continue;
    for (const uint64_t inode : inodes)
      if (const auto found = it->second->find(inode); found != it->second->end())
        ports.push_back({found->second.port, pid, found->second.address});
  }
  if (ports.empty() && unreadable) return std::nullopt;
  const auto key = [](const ListeningPort& p) { return std::tie(p.port, p.address); };
  // Of processes that share a socket the one with the lowest pid is named.
  std::sort(ports.begin(), ports.end(), [](const ListeningPort& a, const ListeningPort& b) {
    return std::tie(a.port, a.address, a.pid) < std::tie(b.port, b.address, b.pid);
  });
  ports.erase(
      std::unique(ports.begin(), ports.end(), [&](const auto& a, const auto& b) { return key(a) == key(b); }),
      ports.end());
  return ports;
}

}  // namespace ttyward::pty
