// Readiness for the holder: epoll, and whom to tell.
//
// A poller is itself a descriptor that becomes readable when something is
// ready, so any other loop can drive what hangs on it.
#pragma once

#include <sys/epoll.h>

#include <array>
#include <cstddef>
#include <cstdint>

#include "base/result.h"
#include "base/unique_fd.h"

namespace ttyward::hold {

class Poller {
 public:
  class Handler {
   public:
    virtual void on_ready(int fd, uint32_t events) = 0;

   protected:
    ~Handler() = default;
  };

  static base::Result<Poller> create();

  int fd() const { return epoll_.get(); }

  // The handler must outlive the registration. It may add and remove
  // descriptors, its own too, while it is being told.
  base::Result<void> add(int fd, uint32_t events, Handler& handler);
  void change(int fd, uint32_t events, Handler& handler);
  void remove(int fd);

  // Waits at most timeout_ms (-1: for ever), then tells every handler once.
  void wait(int timeout_ms);

 private:
  // One registration per descriptor number; numbers are small here.
  static constexpr size_t kMostDescriptors = 1024;

  Poller() = default;

  base::UniqueFd epoll_;
  std::array<Handler*, kMostDescriptors> handlers_{};
};

}  // namespace ttyward::hold
