// What became of a call.
#pragma once

#include <cstdint>

#include <boost/json/object.hpp>
#include <tl/expected.hpp>

#include "wire/types/call_error.h"

namespace ttyward::client {

// Why there is no answer. What the daemon said, it says with its own code.
struct CallFailure : wire::CallError {
  enum class Fate : uint8_t {
    Answered,  // the daemon said so
    NotSent,   // the connection is lost, and the daemon never saw the call
    Unknown,   // the connection is lost; the call may have taken effect
    TimedOut,  // the caller's deadline is over; the call was cancelled
  };
  Fate fate = Fate::Answered;

  bool connection_lost() const { return fate == Fate::NotSent || fate == Fate::Unknown; }
};
using CallResult = tl::expected<boost::json::object, CallFailure>;

}  // namespace ttyward::client
