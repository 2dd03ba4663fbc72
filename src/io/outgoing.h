// Bytes for a socket that takes them when it likes.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "io/poller.h"

namespace ttyward::io {

class Outgoing {
 public:
  bool empty() const { return bytes_.empty(); }
  size_t size() const { return bytes_.size(); }
  void clear() { bytes_.clear(); }
  void push(std::string_view bytes) { bytes_.append(bytes); }

  // Sends what the socket takes, and has the poller say when it takes more; `usual` is what the handler wants
  // to hear of anyway. False: the connection is broken, and nothing was changed at the poller.
  bool flush(int socket, Poller& poller, Poller::Handler& handler, uint32_t usual = EPOLLIN);

 private:
  std::string bytes_;
  bool waiting_ = false;  // the poller was asked
};

}  // namespace ttyward::io
