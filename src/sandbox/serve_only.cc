#include "sandbox/serve_only.h"

#include <linux/seccomp.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>
#include <vector>

#include "base/unique_fd.h"
#include "sandbox/filter.h"
#include "sandbox/kernel.h"

namespace ttyward::sandbox {
namespace {

// All rights are handled and none is granted.
bool restrict_files() {
  const int version = kernel::landlock_version();
  if (version == 0) return false;
  kernel::LandlockRuleset ruleset{};
  ruleset.fs = (uint64_t{1} << 13) - 1;
  if (version >= 2) ruleset.fs |= kernel::kLandlockRefer;
  if (version >= 3) ruleset.fs |= kernel::kLandlockTruncate;
  if (version >= 5) ruleset.fs |= kernel::kLandlockIoctlDevice;
  if (version >= 6) ruleset.scoped = kernel::kLandlockScopeAbstractSockets | kernel::kLandlockScopeSignals;
  const base::UniqueFd rules(kernel::landlock_create(ruleset, version));
  return rules && kernel::landlock_restrict(rules.get()) == 0;
}

}  // namespace

base::Result<ServeOnly> serve_only() {
  ServeOnly made;
  if (::prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0)
    return base::fail_errno(errno, "cannot give up new privileges");
  made.landlock = restrict_files();
  std::vector<sock_filter> filter = serving_filter(static_cast<uint32_t>(::getpid()));
  const sock_fprog program{static_cast<unsigned short>(filter.size()), filter.data()};
  if (::syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, SECCOMP_FILTER_FLAG_TSYNC, &program) != 0)
    return base::fail_errno(errno, "cannot install a filter of system calls");
  made.filter = true;
  return made;
}

}  // namespace ttyward::sandbox
