// Readiness for the holder: epoll, and whom to tell.
//
// A poller is itself a descriptor that becomes readable when something is
// ready, so any other loop can drive what hangs on it.
#pragma once

#include <sys/epoll.h>

#include <cstddef>
#include <cstdint>
#include <vector>

#include "base/result.h"
#include "base/unique_fd.h"

namespace ttyward::io {

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
  base::Result<void> add(int fd, uint32_t events, Handler& told);
  void change(int fd, uint32_t events, Handler& told);
  void remove(int fd);

  // Waits at most timeout_ms (-1: for ever), then tells every handler once.
  void wait(int timeout_ms);

 private:
  Poller() = default;

  base::UniqueFd epoll_;
  Handler* handler(int fd) const;

  std::vector<Handler*> handlers_;  // by descriptor number, which the system keeps small
};

}  // namespace ttyward::io
