// Coroutines on the loop: a Task is awaited by another, a Detached runs by itself,
// and a Callback turns "call me when it is done" into something to await.
//
// Thread rule: the loop thread. A function that takes a callback must call it once: a
// coroutine whose callback is dropped never ends.
#pragma once

#include <coroutine>
#include <exception>
#include <functional>
#include <memory>
#include <optional>
#include <utility>

namespace ttyward::rpc {

// Starts at once and owns itself.
struct Detached {
  struct promise_type {
    Detached get_return_object() { return {}; }
    std::suspend_never initial_suspend() noexcept { return {}; }
    std::suspend_never final_suspend() noexcept { return {}; }
    void return_void() {}
    void unhandled_exception() { std::terminate(); }
  };
};

// Starts when it is awaited; awaited once.
template <typename T>
class [[nodiscard]] Task {
 public:
  struct promise_type;
  using Handle = std::coroutine_handle<promise_type>;

  struct promise_type {
    std::optional<T> value;
    std::coroutine_handle<> next;

    Task get_return_object() { return Task(Handle::from_promise(*this)); }
    std::suspend_always initial_suspend() noexcept { return {}; }
    auto final_suspend() noexcept {
      struct Resume {
        bool await_ready() noexcept { return false; }
        std::coroutine_handle<> await_suspend(Handle done) noexcept { return done.promise().next; }
        void await_resume() noexcept {}
      };
      return Resume{};
    }
    void return_value(T result) { value = std::move(result); }
    void unhandled_exception() { std::terminate(); }
  };

  Task(Task&& other) noexcept : handle_(std::exchange(other.handle_, nullptr)) {}
  Task& operator=(Task&&) = delete;
  ~Task() {
    if (handle_) handle_.destroy();
  }

  bool await_ready() const { return false; }
  std::coroutine_handle<> await_suspend(std::coroutine_handle<> next) {
    handle_.promise().next = next;
    return handle_;
  }
  T await_resume() { return std::move(*handle_.promise().value); }

 private:
  explicit Task(Handle handle) : handle_(handle) {}
  Handle handle_;
};

template <typename T>
class [[nodiscard]] Callback {
 public:
  using Done = std::function<void(T)>;
  // `start` is handed the callback; it may call it before it returns, or later. More calls are ignored.
  explicit Callback(std::function<void(Done)> start)
      : start_(std::move(start)), state_(std::make_shared<State>()) {}

  bool await_ready() const { return false; }
  bool await_suspend(std::coroutine_handle<> waiting) {
    const std::shared_ptr<State> state = state_;
    start_([state, waiting](T value) {
      if (state->value) return;
      state->value = std::move(value);
      if (!state->starting) waiting.resume();
    });
    state->starting = false;
    return !state->value;
  }
  T await_resume() { return std::move(*state_->value); }

 private:
  struct State {
    bool starting = true;
    std::optional<T> value;
  };
  std::function<void(Done)> start_;
  std::shared_ptr<State> state_;
};

}  // namespace ttyward::rpc
