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

class PendingStates {
 public:
  PendingStates() = default;

  std::string keep(const Request& request, json::object record);
  // The record of the state that `request` brings back. Null: forged, used, too old, or for something else.
  std::optional<json::object> take(const Request& request);

 private:
  static constexpr size_t kMost = 1024;
  static constexpr std::chrono::minutes kLifetime{15};

  struct Kept {
    std::string state;
    std::string bound_to;
    json::object record;
    io::Loop::Clock::time_point until;
  };
  std::list<Kept> kept_;
};

}  // namespace ttyward::mcp
