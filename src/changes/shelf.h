// All change sets of a user: where they are, a new one, the last one, and how old and large they may get.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/folders.h"
#include "base/result.h"
#include "changes/change_set.h"

namespace ttyward::changes {

struct Keeping {
  uint64_t quota = uint64_t{4} << 30;              // bytes of all sets together
  int64_t age_ms = int64_t{7} * 24 * 3600 * 1000;  // 0: any
};

struct NewSet {
  std::string id;
  std::string workspace;
  std::string command;
  std::string session;
  Purpose purpose = Purpose::Try;
  std::vector<std::string> protected_paths;
  // Who the command runs as, where that is not us.
  std::optional<std::pair<uid_t, gid_t>> owner;
};

// A set whose command is about to run. The lock goes with the object, or with the process.
struct PreparedSet {
  ChangeSet set;
  std::string upper;
  std::string work;
};

class Shelf {
 public:
  // Nothing is created before the first set is. `roots` are tried in turn: a layer cannot be on an overlay,
  // nor inside the workspace itself.
  explicit Shelf(std::vector<std::string> roots) : roots_(std::move(roots)) {}
  explicit Shelf(const base::Folders& folders);

  base::Result<PreparedSet> prepare(const NewSet& wanted) const;
  base::Result<ChangeSet> open(const std::string& id, ChangeSet::Access access) const;
  bool has(const std::string& id) const;

  // Newest first. Sets with damaged files are left out.
  std::vector<Info> list() const;
  // The set whose changes were applied last to the workspace that holds `folder`; none: nullopt.
  std::optional<Info> last_applied(const std::string& folder) const;

  // Removes sets that are too old, and the oldest ones while all together are too large. Sets in use stay.
  // What was removed.
  std::vector<Info> sweep(const Keeping& keeping, int64_t now_ms) const;

 private:
  void remove_leftovers() const;
  std::string path_of(const std::string& id) const;  // empty: there is none
  std::vector<std::string> roots_;
};

}  // namespace ttyward::changes
