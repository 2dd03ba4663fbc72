// How a function says that it could not do what it was asked.
//
// Result<T> is either a T or an Error. An Error has a code the caller can act
// on, the errno it came from (0 if none), and one sentence for a person that
// names the thing that failed and, where there is something to do, what to do.
#pragma once

#include <cstdint>
#include <string>
#include <utility>

#include <tl/expected.hpp>

namespace ttyward::base {

enum class ErrorCode : uint8_t {
  InvalidArgument,   // the request itself makes no sense
  NotFound,          // the thing named is not there
  PermissionDenied,  // it is there, but not ours to use
  AlreadyExists,
  Exhausted,    // a limit was reached: descriptors, processes, disk, quota
  Unsupported,  // this machine cannot do it
  Unavailable,  // not now: it may work later
  Corrupt,      // data on disk or on a wire is not what it should be
  Io,           // any other failure of a system call
};

const char* error_code_name(ErrorCode code);

struct Error {
  ErrorCode code = ErrorCode::Io;
  int sys_errno = 0;
  std::string message;

  bool operator==(const Error&) const = default;
};

template <typename T>
using Result = tl::expected<T, Error>;

inline tl::unexpected<Error> fail(ErrorCode code, std::string message) {
  return tl::unexpected<Error>(Error{code, 0, std::move(message)});
}

// The one place where errno becomes an Error: "context: what errno says".
tl::unexpected<Error> fail_errno(int sys_errno, const std::string& context);

}  // namespace ttyward::base
