// What a server has to remember between a question and its answer when there is no session: the modern era's
// requestState.
//
// A state is a random text of 256 bits that names a record kept here, so there is nothing in it to read or to
// forge; it is good once, for the same method with the same parameters, for kLifetime. At most kMost are
// kept: the oldest goes first.
//
// Thread rule: the loop thread.
#pragma once

#include <chrono>
#include <list>
#include <optional>
#include <string>

#include "io/loop.h"
#include "mcp/json.h"
#include "mcp/request.h"

namespace ttyward::mcp {

// The method and what it was asked, without what changes from one attempt to the next.
std::string what_was_asked(const Request& request);
std::string new_state();

template <typename Record>
class PendingStates {
 public:
  std::string keep(const Request& request, Record record) {
    if (kept_.size() >= kMost) kept_.pop_front();
    kept_.push_back(
        {new_state(), what_was_asked(request), std::move(record), io::Loop::Clock::now() + kLifetime});
    return kept_.back().state;
  }
  // The record of the state that `request` brings back. Null: forged, used, too old, or for something else.
  std::optional<Record> take(const Request& request) {
    const std::string state = text_or(request.params, "requestState");
    for (auto kept = kept_.begin(); kept != kept_.end(); ++kept) {
      if (kept->state != state) continue;
      Kept found = std::move(*kept);
      kept_.erase(kept);
      if (found.bound_to != what_was_asked(request) || io::Loop::Clock::now() > found.until)
        return std::nullopt;
      return std::move(found.record);
    }
    return std::nullopt;
  }

 private:
  static constexpr size_t kMost = 1024;
  static constexpr std::chrono::minutes kLifetime{15};

  struct Kept {
    std::string state;
    std::string bound_to;
    Record record;
    io::Loop::Clock::time_point until;
  };
  std::list<Kept> kept_;
};

}  // namespace ttyward::mcp
