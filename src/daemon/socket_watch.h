// Notices when the daemon's socket file is taken away under it: by a cleaner of
// temporary files, or by a login manager that removes the whole runtime folder.
// Thread rule: the loop's thread.
#pragma once

#include <functional>
#include <memory>
#include <string>

#include "base/result.h"
#include "base/unique_fd.h"
#include "io/loop.h"

namespace ttyward::daemon {

class SocketWatch final : private io::Poller::Handler {
 public:
  // Tells after something in `folder`, or the folder itself, was removed or moved.
  static base::Result<std::unique_ptr<SocketWatch>> watch(io::Loop& loop, const std::string& folder,
                                                          std::function<void()> told);
  SocketWatch(const SocketWatch&) = delete;
  SocketWatch& operator=(const SocketWatch&) = delete;
  ~SocketWatch();

 private:
  SocketWatch(io::Loop& loop, base::UniqueFd fd, std::function<void()> told)
      : loop_(loop), fd_(std::move(fd)), told_(std::move(told)) {}
  void on_ready(int fd, uint32_t events) override;

  io::Loop& loop_;
  base::UniqueFd fd_;
  std::function<void()> told_;
};

}  // namespace ttyward::daemon
