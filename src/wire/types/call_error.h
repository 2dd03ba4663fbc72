// Why a call failed, as the wire says it: docs/protocol/socket.md, `error.code`.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "base/result.h"

namespace ttyward::wire {

enum class Code : uint8_t {
  InvalidArgument,
  NotFound,
  PermissionDenied,
  AlreadyExists,
  Exhausted,
  Unsupported,
  Unavailable,
  Corrupt,
  Io,
  Busy,       // somebody else uses it now
  Denied,     // policy or a person said no
  Cancelled,  // the client took the call back, or the terminal was interrupted before the command began
};

const char* code_name(Code code);
std::optional<Code> code_named(std::string_view name);

struct CallError {
  Code code = Code::Io;
  std::string message;  // one line that says what to do

  bool operator==(const CallError&) const = default;
};

CallError call_error(const base::Error& error);
// The nearest base code; Busy, Denied and Cancelled have none of their own.
base::Error base_error(const CallError& error);

}  // namespace ttyward::wire
