// Contracts that stay on in release builds.
//
// TTYWARD_CHECK(condition) states something that only a bug in ttyward can make
// false. It prints where and what, and aborts: a daemon that goes on with a
// broken invariant loses people's data. Bad input is never a broken contract.
#pragma once

namespace ttyward::base {

[[noreturn]] void check_failed(const char* file, int line, const char* what);

}  // namespace ttyward::base

#define TTYWARD_CHECK(condition)                \
  (__builtin_expect(!!(condition), 1) ? (void)0 \
                                      : ::ttyward::base::check_failed(__FILE__, __LINE__, #condition))
