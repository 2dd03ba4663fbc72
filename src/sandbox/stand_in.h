// A user with no rights who stands in for root.
//
// The kernel trusts root's own number in many places, whatever capabilities it has lost: root owns the
// system's files and may change their modes, and its processes are not counted. So a command of root's, in a
// folder of root's, runs as a user that nobody has. In its user namespace it is root, and the folders it may
// use are mounted so that their owner is that user (idmapped mounts).
#pragma once

#include <sys/types.h>

#include <string>

#include "base/unique_fd.h"

namespace ttyward::sandbox {

// In a range that no distribution assigns.
inline constexpr uid_t kStandIn = 2'147'000'000;

// A user namespace in which kStandIn is root, and its group is `group`. Empty: errno says why not. The caller
// is root.
base::UniqueFd make_stand_in(gid_t group);

// Whether the kernel can show the folder's files as the stand-in's.
bool can_stand_in(const std::string& folder, gid_t group);

}  // namespace ttyward::sandbox
