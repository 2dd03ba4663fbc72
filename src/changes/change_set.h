// One command's changes, kept apart from the workspace until somebody applies or discards them.
//
//   <shelf>/<id>/upper, work   the layer that the command wrote to (overlayfs)
//               info           what it is and how far it is (record.h)
//               entries        the list of changes, written when the command has ended
//               applied        what was applied, with what it takes to undo that
//               before/N       what stood in the workspace before
//               lock           held by whoever runs the command, applies, undoes or discards
//
// Flow at a glance
//   Shelf::prepare ─► the command runs ─► finish() ─► apply() ─► undo()
//                                              └────► discard()
//
// Everything is in files that are replaced as a whole: a process that dies at any moment leaves a set that
// the next one can go on with. An apply that was cut short is taken back by the next call. Blocking file
// work; not for the thread of a loop. One object per thread.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "base/unique_fd.h"
#include "changes/entry.h"
#include "changes/record.h"

namespace ttyward::changes {

// A path and what is wrong with it.
struct Refused {
  std::string path;
  std::string why;
  bool operator==(const Refused&) const = default;
};

struct ApplyChoice {
  std::vector<std::string> paths;  // relative to the workspace; a folder stands for all in it. Empty: all
  bool over_conflicts = false;     // replace what changed meanwhile
};

struct Applied {
  std::vector<std::string> paths;
  // Not empty: nothing was changed.
  std::vector<Refused> conflicts;
  // What can never be applied, and why.
  std::vector<Refused> left_out;
};

class ChangeSet {
 public:
  // How the folder of a set is called while it is removed.
  static constexpr std::string_view kDiscarded = "discarded-";
  // `Exclusive` fails with Unavailable while another process uses the set, or its command runs. `Running` is
  // for whoever goes on with a command that runs: it takes the lock alone.
  enum class Access : uint8_t { Read, Exclusive, Running };
  static base::Result<ChangeSet> open(const std::string& folder, Access access);

  const Info& info() const { return info_; }
  // Whether its command may still be running.
  bool running() const;
  // How far it is: Finished also where the command's end was not noted.
  State state() const { return info_.state == State::Running && !running() ? State::Finished : info_.state; }
  // The list. Of a set whose command was not seen to end, it is made now.
  base::Result<std::vector<Entry>> entries() const;
  // What was applied and not undone.
  base::Result<std::vector<AppliedEntry>> applied() const;

  // The command has ended: the list is made and written.
  base::Result<std::vector<Entry>> finish();
  // Notes the process that is the command.
  base::Result<void> set_keeper(pid_t pid);
  // All or nothing, as far as the system lets us: whatever can fail is done before the workspace is touched.
  base::Result<Applied> apply(const ApplyChoice& choice);
  // Takes back what was applied. Conflicts are files that changed since.
  base::Result<Applied> undo(bool over_conflicts);
  // The set is gone afterwards.
  base::Result<void> discard() &&;

  // The difference of a file as a patch, with its header; of what is binary or too large, one line that says
  // so.
  std::string diff(const Entry& entry) const;

 private:
  friend class Shelf;
  ChangeSet(std::string path, base::UniqueFd folder, base::UniqueFd lock, Info info);
  base::Result<base::UniqueFd> open_workspace() const;
  base::Result<std::vector<Entry>> scan_now() const;
  base::Result<void> write_info();
  base::Result<void> write_applied(const std::vector<AppliedEntry>& entries);
  base::Result<void> recover();
  base::Result<std::vector<Entry>> chosen(const ApplyChoice& choice, Applied& outcome) const;
  // What stood in the workspace at the path before the command: in the workspace still, or saved.
  struct Was {
    base::UniqueFd folder;
    std::string name;
  };
  std::optional<Was> before_of(const Entry& entry) const;

  std::string path_;
  base::UniqueFd folder_;
  base::UniqueFd lock_;  // valid: held
  Info info_;
};

}  // namespace ttyward::changes
