// Signals as something to poll for, while this lives; afterwards they do what they did before.
#pragma once

#include <csignal>
#include <initializer_list>

#include "base/unique_fd.h"

namespace ttyward::cli {

class SignalWatch {
 public:
  explicit SignalWatch(std::initializer_list<int> numbers);
  SignalWatch(const SignalWatch&) = delete;
  SignalWatch& operator=(const SignalWatch&) = delete;
  ~SignalWatch();

  int fd() const { return fd_.get(); }
  // The next one that came; 0: none.
  int take();

 private:
  sigset_t before_{};
  base::UniqueFd fd_;
};

}  // namespace ttyward::cli
