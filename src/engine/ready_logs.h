// Files for the logs of the next terminals, made ahead on another thread: making one can take 0.2 ms, which
// every command would wait for.
//
// Thread rule: take() on one thread, fill() on any.
#pragma once

#include <mutex>
#include <vector>

#include "base/unique_fd.h"

namespace ttyward::engine {

class ReadyLogs {
 public:
  explicit ReadyLogs(int folder) : folder_(folder) {}

  // Invalid if there is none.
  base::UniqueFd take();
  void fill();

 private:
  const int folder_;
  std::mutex mutex_;
  std::vector<base::UniqueFd> files_;  // guarded by mutex_
};

}  // namespace ttyward::engine
