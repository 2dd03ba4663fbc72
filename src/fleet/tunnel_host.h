// The host's end of tunnels: lines of the daemon's protocol, carried over the bus for one client elsewhere.
//
// A message to the host is one of
//   d NUMBER CODE\nBYTES   what the client sends to the daemon; CODE proves a person's messages, "-"
//   otherwise a TOTAL\n              so many bytes of the daemon's have come k\n                    the
//   client lives c\n                    the end
// and a message from it "d NUMBER\nBYTES" or "c REASON\n". Numbers count from 1. A number that is missing
// ends the tunnel, as a broken connection does, and the client makes another one. At most kWindow bytes are
// on their way back without having been counted by the client, so a slow one slows the daemon's side, not the
// bus.
//
// The role is decided here. Without a person's proof it is an agent's, in the session of the fleet.
//
// Thread rule: any thread; one thread for each tunnel.
#pragma once

#include <chrono>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <thread>

#include "fleet/messages.h"

namespace ttyward::fleet {

struct Host;

inline constexpr uint64_t kWindow = 512 << 10;
inline constexpr size_t kTunnelChunk = 64 << 10;
inline constexpr std::chrono::seconds kTunnelBeat{5};
inline constexpr std::chrono::seconds kTunnelSilence{20};

class Tunnels {
 public:
  explicit Tunnels(Host& host) : host_(host) {}
  ~Tunnels();

  // For one proof, soon.
  std::string new_nonce();
  // The answer to the request to open one, as JSON.
  std::string open(std::string_view request);
  void receive(const std::string& tunnel, std::string_view message);
  void close_all();

 private:
  class Tunnel;
  using Clock = std::chrono::steady_clock;

  std::string why_no_person(const TunnelRequest& request);

  Host& host_;
  std::mutex mutex_;
  std::map<std::string, Clock::time_point> nonces_;         // guarded by mutex_; when each was given
  std::map<std::string, std::shared_ptr<Tunnel>> tunnels_;  // guarded by mutex_
};

}  // namespace ttyward::fleet
