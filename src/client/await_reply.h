// Waiting for the answer to one call while other things arrive; shared by
// Connection and Session.
//
// A Link has: std::deque<Message>& waiting(); Result<bool> wait_and_receive(until,
// also_fd), false if nothing came in time or also_fd is readable; void cancel(id);
// CallFailure lost_call(Fate).
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <optional>
#include <utility>
#include <variant>

#include "client/connection.h"

namespace ttyward::client {

// After a deadline, for the daemon to say that the call is cancelled: it answers at once, or not at all.
inline constexpr std::chrono::milliseconds kCancelPatience{1000};

template <typename Link>
class ReplyWait {
  using Clock = std::chrono::steady_clock;

 public:
  ReplyWait(Link& link, uint64_t id, const PartHandler& on_part, const CallOptions& options)
      : link_(link), id_(id), on_part_(on_part), options_(options) {}

  CallResult wait() {
    if (options_.deadline.count() > 0) until_ = Clock::now() + options_.deadline;
    for (;;) {
      if (auto result = look()) return std::move(*result);
      const auto received = link_.wait_and_receive(until_, cancelled_ ? -1 : options_.cancel_fd);
      if (received && *received) continue;
      if (!received) {
        if (auto result = look()) return std::move(*result);  // it came just before the end
        return tl::unexpected(link_.lost_call(CallFailure::Fate::Unknown));
      }
      if (timed_out_) return tl::unexpected(too_late());
      timed_out_ = until_ && Clock::now() >= *until_;
      if (timed_out_) until_ = Clock::now() + kCancelPatience;
      if (!std::exchange(cancelled_, true)) link_.cancel(id_);
    }
  }

  // Whatever comes next, or none in time; what came before the end of a connection is handed out first.
  static base::Result<std::optional<Message>> next(Link& link, std::chrono::milliseconds timeout) {
    std::optional<Clock::time_point> until;
    if (timeout.count() >= 0) until = Clock::now() + timeout;
    while (link.waiting().empty()) {
      auto received = link.wait_and_receive(until);
      if (!link.waiting().empty()) break;
      if (!received) return tl::unexpected(received.error());
      if (!*received) return std::optional<Message>{};
    }
    std::optional<Message> message(std::move(link.waiting().front()));
    link.waiting().pop_front();
    return message;
  }

 private:
  static CallFailure too_late() {
    CallFailure failure;
    failure.code = wire::Code::Unavailable;
    failure.message = "the daemon did not answer in time";
    failure.fate = CallFailure::Fate::TimedOut;
    return failure;
  }

  Message take() {
    auto& waiting = link_.waiting();
    Message taken = std::move(waiting[looked_at_]);
    waiting.erase(waiting.begin() + static_cast<std::ptrdiff_t>(looked_at_));
    return taken;
  }

  // Takes what is ours, hands it on, and leaves the rest to next().
  std::optional<CallResult> look() {
    while (looked_at_ < link_.waiting().size()) {
      const Message& message = link_.waiting()[looked_at_];
      if (const auto* reply = std::get_if<Reply>(&message); reply != nullptr && reply->id == id_) {
        CallResult result = std::get<Reply>(take()).result;
        const bool ours = timed_out_ && !result && result.error().code == wire::Code::Cancelled;
        return ours ? CallResult(tl::unexpected(too_late())) : std::move(result);
      }
      if (const auto* part = std::get_if<Part>(&message); part != nullptr && part->id == id_) {
        const Message taken = take();
        if (on_part_) on_part_(std::get<Part>(taken).part);
      } else if (std::holds_alternative<Event>(message) && options_.on_event) {
        const Message taken = take();
        options_.on_event(std::get<Event>(taken).event);
      } else {
        ++looked_at_;
      }
    }
    return std::nullopt;
  }

  Link& link_;
  uint64_t id_;
  const PartHandler& on_part_;
  const CallOptions& options_;
  std::optional<Clock::time_point> until_;
  size_t looked_at_ = 0;  // of what waits: belongs to others
  bool cancelled_ = false;
  bool timed_out_ = false;
};

}  // namespace ttyward::client
