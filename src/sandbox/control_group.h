// A group of processes whose memory and number the kernel limits together (cgroups).
//
// Version 1 as root; version 2 where the folder of groups belongs to the user and has the controllers.
// A group is a folder beside or below the one this process is in. Each has a lock while it is in use, so that
// one left behind by a process that was killed is recognised and removed by the next.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>

#include "base/result.h"
#include "base/unique_fd.h"
#include "sandbox/plan.h"

namespace ttyward::sandbox {

// The folders in which groups can be made; empty: none. With version 2 both are the same.
struct GroupPlaces {
  std::string memory;
  std::string processes;
  bool unified = false;  // version 2

  bool operator==(const GroupPlaces&) const = default;
};

// Of this process.
GroupPlaces find_group_places();

// The same from what /proc/self/mountinfo and /proc/self/cgroup say. `usable` tells whether a folder exists
// and groups can be made in it; `controllers` returns what groups in it can limit: the content of
// cgroup.subtree_control.
GroupPlaces group_places(std::string_view mounts, std::string_view groups,
                         const std::function<bool(const std::string&)>& usable,
                         const std::function<std::string(const std::string&)>& controllers);

class ControlGroup {
 public:
  ControlGroup() = default;
  // Groups for what `wanted` says, with these limits.
  static base::Result<ControlGroup> make(const Groups& wanted, const Limits& limits);
  ControlGroup(ControlGroup&& other) noexcept;
  ControlGroup& operator=(ControlGroup&& other) noexcept;
  ~ControlGroup();

  static constexpr size_t kMost = 2;
  // A process that writes "0" to it joins; -1: none.
  int joining(size_t index) const { return parts_[index].join.get(); }

 private:
  struct Part {
    std::string path;
    base::UniqueFd lock;
    base::UniqueFd join;
  };
  base::Result<void> add(Part& part, const std::string& parent);

  Part parts_[kMost];
};

}  // namespace ttyward::sandbox
