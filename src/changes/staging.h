// How changes get into a workspace, and out again: everything that can fail is made ready beside it, then
// only renames follow.
//
// The folder .ttyward-apply-<id> in the workspace, open to nobody else, holds the new files and links until
// they are renamed into place, and folders on their way out. It exists only while a change set is applied.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "base/result.h"
#include "base/unique_fd.h"
#include "changes/change_set.h"
#include "changes/record.h"
#include "changes/tree.h"

namespace ttyward::changes {

// Entries whose place in the workspace is not as the command found it. With `over` they are changed so that
// what is there now is replaced, and only those stay conflicts whose folder is gone.
std::vector<Refused> settle_conflicts(int workspace, std::vector<Entry>& entries, bool over);

// Of what was applied: what is not any more as the apply left it. `set` is the open folder of the change set.
std::vector<Refused> later_changes(int workspace, int set, const std::vector<AppliedEntry>& entries);

class Staging {
 public:
  // `set` is the open folder of the change set. All descriptors are the caller's.
  static base::Result<Staging> begin(int workspace, int set, const std::string& id);
  // After an apply that was cut short: what is in the folder is still needed.
  static base::Result<Staging> resume(int workspace, int set, const std::string& id);
  Staging(Staging&& other) noexcept;
  Staging& operator=(Staging&&) = delete;
  ~Staging();

  // Copies the new content into the folder, and what it replaces into before/ of the set. The workspace is
  // not changed. `done` is what was applied earlier.
  base::Result<std::vector<AppliedEntry>> stage(const std::vector<Entry>& entries,
                                                const std::vector<AppliedEntry>& done);
  // Renames everything into place, and notes in the entries what is there then.
  base::Result<void> commit(std::vector<AppliedEntry>& entries);
  // The reverse, for those of the entries that were done. What is neither as before nor as after stays. After
  // a failure the folder stays, too: it may hold what was moved away.
  base::Result<void> take_back(const std::vector<AppliedEntry>& entries);

 private:
  Staging(int workspace, int set, std::string name, base::UniqueFd folder)
      : workspace_(workspace), set_(set), name_(std::move(name)), folder_(std::move(folder)) {}
  base::Result<void> put(AppliedEntry& each, size_t number);
  base::Result<void> move_away(const Spot& spot, int64_t saved);
  base::Result<void> take_one_back(const AppliedEntry& each, size_t number);
  bool was_applied(const AppliedEntry& each) const;
  base::Result<void> save_folders(const std::vector<AppliedEntry>& entries);

  int workspace_;
  int set_;
  std::string name_;
  base::UniqueFd folder_;
  bool needed_ = false;  // the folder may hold the only copy of something
};

}  // namespace ttyward::changes
