// The one way out of a sandbox without a network: a proxy that passes on connections to hosts on a list.
//
// Flow at a glance
//   a program inside ─► 127.0.0.1:port inside (sandbox/relay) ─► unix socket ─► Proxy
//   handshake.h (who is wanted?) ─► AllowList ─► Resolver ─► AllowList (where does it lead?) ─► connect ─►
//   relay
//
// The address that was checked is the one that is connected to: a name is looked up once. TLS is passed
// through and not opened, so what is said inside is not seen: a host on the list that serves others by their
// names (domain fronting) stays a way to them.
//
// Bounds: connections, bytes buffered in each direction, the length and time of a handshake, the time without
// a byte. A peer that is slow slows itself only.
//
// Thread rule: the loop's thread.
#pragma once

#include <sys/types.h>

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/result.h"
#include "base/unique_fd.h"
#include "io/loop.h"
#include "proxy/allow_list.h"
#include "proxy/resolver.h"

namespace ttyward::proxy {

struct Limits {
  size_t connections = 128;                          // more wait until one ends
  size_t buffered = size_t{64} << 10;                // bytes, in each direction of a connection
  size_t refusals = 100;                             // different ones that are remembered
  std::chrono::milliseconds handshake_time{30'000};  // from its first moment to a request
  std::chrono::milliseconds connect_time{20'000};    // for looking the name up, and for each address
  std::chrono::milliseconds idle_time{600'000};      // without a byte in either direction
};

// A host that a command asked for and did not get.
struct RefusedHost {
  std::string host;  // as it was compared, or as it was asked for if it was no host name
  uint16_t port = 0;
  std::string why;
  int64_t times = 0;

  bool operator==(const RefusedHost&) const = default;
  std::string text() const;  // "network example.com:443 (the host is not allowed)"
};

class Proxy final : private io::Poller::Handler {
 public:
  // Listens on a new unix socket at `path`, in a folder that is ours alone. `owner` may use it as well as we
  // do: who a command runs as, where we are root. The resolver has to outlive the proxy.
  static base::Result<std::unique_ptr<Proxy>> listen(io::Loop& loop, Resolver& resolver,
                                                     const std::string& path, AllowList allowed,
                                                     const Limits& limits = {},
                                                     std::optional<std::pair<uid_t, gid_t>> owner = {});
  // Closes all connections and removes the socket.
  ~Proxy();
  Proxy(const Proxy&) = delete;
  Proxy& operator=(const Proxy&) = delete;

  const std::string& path() const { return path_; }
  // In the order in which they were refused first.
  const std::vector<RefusedHost>& refused() const { return refused_; }
  size_t connections() const { return connections_.size(); }

 private:
  class Connection;
  friend class Connection;
  Proxy(io::Loop& loop, Resolver& resolver, std::string path, AllowList allowed, const Limits& limits,
        base::UniqueFd listener);
  void on_ready(int fd, uint32_t events) override;
  void watch_listener();
  void remember(const std::string& host, uint16_t port, const std::string& why);
  void end(uint64_t number);

  io::Loop& loop_;
  Resolver& resolver_;
  const std::string path_;
  const AllowList allowed_;
  const Limits limits_;
  base::UniqueFd listener_;
  bool listening_ = false;
  io::Loop::TimerId pause_ = 0;
  std::map<uint64_t, std::shared_ptr<Connection>> connections_;
  uint64_t last_ = 0;
  std::vector<RefusedHost> refused_;
};

}  // namespace ttyward::proxy
