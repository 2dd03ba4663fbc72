// Passes connections to 127.0.0.1:kProxyPort inside a sandbox on to the proxy's socket (plan.h).
//
// Lives in the sandbox's init: no allocation. Connections beyond kMostConnections wait until one ends.
#pragma once

#include <poll.h>

#include <cstddef>
#include <cstdint>

namespace ttyward::sandbox {

class Relay {
 public:
  static constexpr size_t kMostConnections = 64;
  static constexpr size_t kMostWaits = 1 + 2 * kMostConnections;

  // In the sandbox's network namespace, whose loopback interface may be raised later.
  bool listen();
  // Fills in what to poll for; returns how many.
  size_t wait_for(pollfd* waits);
  void turn(const pollfd* waits, size_t count);

 private:
  static constexpr size_t kBuffer = 16 * 1024;
  // One direction of a connection: bytes that were read and not yet written.
  struct Way {
    size_t begin = 0;
    size_t end = 0;
    bool closed = false;    // no more comes in
    bool finished = false;  // that was passed on
    char* bytes = nullptr;
  };
  struct Connection {
    int ends[2] = {-1, -1};  // the program's, the proxy's
    Way ways[2];             // from ends[i] to the other
  };

  void accept_one();
  void move(Connection& connection);
  static void close(Connection& connection);

  int listener_ = -1;
  char* memory_ = nullptr;
  Connection connections_[kMostConnections];
  // Which connection and end each entry of the last wait_for() is.
  uint8_t waiting_[kMostWaits] = {};
};

}  // namespace ttyward::sandbox
