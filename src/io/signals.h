// Signals as events of a loop. They are blocked for the whole process while this
// lives, so it must be made before other threads are; pty::spawn gives children a
// clean mask. Thread rule: the loop's thread.
#pragma once

#include <csignal>
#include <functional>
#include <initializer_list>
#include <memory>

#include "base/result.h"
#include "base/unique_fd.h"
#include "io/loop.h"

namespace ttyward::io {

class Signals final : private Poller::Handler {
 public:
  static base::Result<std::unique_ptr<Signals>> watch(Loop& loop, std::initializer_list<int> numbers,
                                                      std::function<void(int number)> told);
  Signals(const Signals&) = delete;
  Signals& operator=(const Signals&) = delete;
  ~Signals();

 private:
  Signals(Loop& loop, std::function<void(int)> told) : loop_(loop), told_(std::move(told)) {}
  void on_ready(int fd, uint32_t events) override;

  Loop& loop_;
  std::function<void(int)> told_;
  sigset_t before_{};
  base::UniqueFd fd_;
};

}  // namespace ttyward::io
