// A thread, or why there is none: a user may have as many processes and threads as the limits allow.
#pragma once

#include <system_error>
#include <thread>
#include <utility>

#include "base/result.h"

namespace ttyward::base {

template <typename Work>
Result<std::thread> start_thread(Work&& work) {
  try {
    return std::thread(std::forward<Work>(work));
  } catch (const std::system_error& error) {
    return fail_errno(error.code().value(),
                      "cannot start a thread (raise the limit of processes, ulimit -u, or end some)");
  }
}

}  // namespace ttyward::base
