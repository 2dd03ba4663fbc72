#include "wire/types/call_error.h"

#include <array>
#include <utility>

namespace ttyward::wire {
namespace {

using base::ErrorCode;

struct Row {
  Code code;
  const char* name;
  ErrorCode base;
};

constexpr std::array kRows = {
    Row{Code::InvalidArgument, "invalid_argument", ErrorCode::InvalidArgument},
    Row{Code::NotFound, "not_found", ErrorCode::NotFound},
    Row{Code::PermissionDenied, "permission_denied", ErrorCode::PermissionDenied},
    Row{Code::AlreadyExists, "already_exists", ErrorCode::AlreadyExists},
    Row{Code::Exhausted, "exhausted", ErrorCode::Exhausted},
    Row{Code::Unsupported, "unsupported", ErrorCode::Unsupported},
    Row{Code::Unavailable, "unavailable", ErrorCode::Unavailable},
    Row{Code::Corrupt, "corrupt", ErrorCode::Corrupt},
    Row{Code::Io, "io", ErrorCode::Io},
    Row{Code::Busy, "busy", ErrorCode::Unavailable},
    Row{Code::Denied, "denied", ErrorCode::PermissionDenied},
    Row{Code::Cancelled, "cancelled", ErrorCode::Unavailable},
};

}  // namespace

const char* code_name(Code code) {
  for (const Row& row : kRows) {
    if (row.code == code) return row.name;
  }
  return "io";
}

std::optional<Code> code_named(std::string_view name) {
  for (const Row& row : kRows) {
    if (row.name == name) return row.code;
  }
  return std::nullopt;
}

CallError call_error(const base::Error& error) {
  for (const Row& row : kRows) {  // the first nine are one to one
    if (row.base == error.code) return {row.code, error.message};
  }
  return {Code::Io, error.message};
}

base::Error base_error(const CallError& error) {
  for (const Row& row : kRows) {
    if (row.code == error.code) return {row.base, 0, error.message};
  }
  return {ErrorCode::Io, 0, error.message};
}

}  // namespace ttyward::wire
