#include "base/result.h"

#include <cerrno>
#include <system_error>

namespace ttyward::base {

const char* error_code_name(ErrorCode code) {
  switch (code) {
    case ErrorCode::InvalidArgument:
      return "invalid_argument";
    case ErrorCode::NotFound:
      return "not_found";
    case ErrorCode::PermissionDenied:
      return "permission_denied";
    case ErrorCode::AlreadyExists:
      return "already_exists";
    case ErrorCode::Exhausted:
      return "exhausted";
    case ErrorCode::Unsupported:
      return "unsupported";
    case ErrorCode::Unavailable:
      return "unavailable";
    case ErrorCode::Corrupt:
      return "corrupt";
    case ErrorCode::Io:
      return "io";
  }
  return "io";
}

namespace {

ErrorCode code_of(int sys_errno) {
  switch (sys_errno) {
    case EINVAL:
    case ENAMETOOLONG:
      return ErrorCode::InvalidArgument;
    case ENOENT:
    case ENOTDIR:
    case ESRCH:
      return ErrorCode::NotFound;
    case EACCES:
    case EPERM:
    case EROFS:
    case ELOOP:
      return ErrorCode::PermissionDenied;
    case EEXIST:
      return ErrorCode::AlreadyExists;
    case EMFILE:
    case ENFILE:
    case ENOMEM:
    case ENOSPC:
    case EDQUOT:
      return ErrorCode::Exhausted;
    case ENOSYS:
    case ENOTSUP:
      return ErrorCode::Unsupported;
    case EAGAIN:
    case EBUSY:
    case ECONNREFUSED:
      return ErrorCode::Unavailable;
    default:
      return ErrorCode::Io;
  }
}

}  // namespace

tl::unexpected<Error> fail_errno(int sys_errno, const std::string& context) {
  return tl::unexpected<Error>(
      Error{code_of(sys_errno), sys_errno, context + ": " + std::generic_category().message(sys_errno)});
}

}  // namespace ttyward::base
