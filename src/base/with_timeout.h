// Any operation with a time limit: whichever comes first, its end or the limit, decides.
//
//   const auto size = base::with_timeout(2s, [](const base::StopFlag& stop) { return measure(stop); },
//                                        [] { log("too slow"); });
//   if (!size) …   // it took too long; an exception of the operation comes out of the call
//
// The operation runs on a thread of its own. Nobody can end a thread from outside: after the limit it goes on
// until it looks at its flag, and its result is dropped. So it must own, or share, all that it uses.
// `on_timeout` is called once, on the caller's thread, and only when the limit came first. No timer is left
// behind in either case.
#pragma once

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <exception>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <type_traits>
#include <utility>
#include <variant>

#include "base/thread.h"

namespace ttyward::base {

// Set once the limit has passed. Copies share it.
class StopFlag {
 public:
  bool is_set() const { return *set_; }
  void set() const { *set_ = true; }

 private:
  std::shared_ptr<std::atomic<bool>> set_ = std::make_shared<std::atomic<bool>>(false);
};

// What the operation returned (std::monostate for one that returns nothing), or Unavailable after `limit`, or
// why there was no thread for it.
template <class Operation>
auto with_timeout(std::chrono::milliseconds limit, Operation operation, std::function<void()> on_timeout = {})
    -> Result<std::conditional_t<std::is_void_v<std::invoke_result_t<Operation&, const StopFlag&>>,
                                 std::monostate, std::invoke_result_t<Operation&, const StopFlag&>>> {
  using Returned = std::invoke_result_t<Operation&, const StopFlag&>;
  using Value = std::conditional_t<std::is_void_v<Returned>, std::monostate, Returned>;
  struct Shared {
    explicit Shared(Operation given) : operation(std::move(given)) {}
    Operation operation;
    std::mutex mutex;
    std::condition_variable ended;
    bool over = false;
    std::optional<Value> value;
    std::exception_ptr thrown;
  };
  auto shared = std::make_shared<Shared>(std::move(operation));
  const StopFlag stop;
  auto thread = start_thread([shared, stop] {
    std::optional<Value> value;
    std::exception_ptr thrown;
    try {
      if constexpr (std::is_void_v<Returned>) {
        shared->operation(stop);
        value.emplace();
      } else {
        value.emplace(shared->operation(stop));
      }
    } catch (...) {
      thrown = std::current_exception();
    }
    const std::lock_guard lock(shared->mutex);
    shared->value = std::move(value);
    shared->thrown = thrown;
    shared->over = true;
    shared->ended.notify_one();
  });
  if (!thread) return tl::unexpected(thread.error());
  std::unique_lock lock(shared->mutex);
  const bool in_time = shared->ended.wait_for(lock, limit, [&] { return shared->over; });
  lock.unlock();
  if (!in_time) {
    stop.set();
    thread->detach();
    if (on_timeout) on_timeout();
    return fail(ErrorCode::Unavailable, "it took longer than " + std::to_string(limit.count()) + " ms");
  }
  thread->join();
  if (shared->thrown) std::rethrow_exception(shared->thrown);
  return std::move(*shared->value);
}

}  // namespace ttyward::base
