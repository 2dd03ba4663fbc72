// This host's signs of life on the bus, and what those of others say.
//
// A host is there as long as the server keeps its entry, and the server drops it when it was not renewed for
// the length of the lease, by the server's clock. Clocks of hosts play no part: the time of deadlines, too,
// is the server's, as its answers to our own signs of life tell it.
//
// Thread rule: any thread.
#pragma once

#include <chrono>
#include <condition_variable>
#include <functional>
#include <mutex>
#include <optional>
#include <string>
#include <thread>

#include "base/result.h"
#include "fleet/bus.h"
#include "fleet/messages.h"

namespace ttyward::fleet {

class Presence {
 public:
  enum class Fate : uint8_t {
    Alive,
    Gone,
    Unsure,  // we have not seen enough of the bus ourselves
  };

  struct Owner {
    std::function<HostBeat()> now;                // makes the sign of life
    std::function<void(const std::string&)> say;  // why the bus cannot be used yet
    std::function<void()> closed;                 // the connection is closed for good
    std::function<void()> beaten;                 // the server has taken a sign of life
  };
  // The owner's functions are called on a thread of this object.
  Presence(Bus& bus, Layout layout, Owner owner);
  ~Presence();

  // The first sign of life, and the others after it. Fails if another installation has this name; waits for
  // the bus otherwise, until stop().
  base::Result<void> start();
  // No more signs of life. A start() that waits returns.
  void interrupt();
  // The same, and waits for one that is on its way.
  void stop();

  Fate fate_of(const std::string& host, const std::string& host_id);
  // The server's clock; none before the first answer.
  std::optional<int64_t> server_now_ms() const;

 private:
  using Clock = std::chrono::steady_clock;

  bool beat();
  void run();

  Bus& bus_;
  const Layout layout_;
  const Owner owner_;
  mutable std::mutex mutex_;
  std::condition_variable stopping_;
  bool stopped_ = false;                           // guarded by mutex_
  std::optional<Clock::time_point> steady_since_;  // guarded by mutex_; the bus has answered ever since
  Clock::time_point last_beat_;                    // guarded by mutex_
  std::optional<int64_t> server_minus_steady_ms_;  // guarded by mutex_
  std::thread thread_;
};

}  // namespace ttyward::fleet
