// The service for change sets: what commands that ran with `try` changed, and what becomes of it.
//
// The sets are files (changes/change_set.h), so another daemon, or the command line without one, goes on
// where this one stopped. File work is done in the background. Thread rule: the loop's thread.
#pragma once

#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>

#include "app/background.h"
#include "app/caller.h"
#include "app/core.h"
#include "app/layered_run.h"
#include "app/reply.h"
#include "changes/shelf.h"
#include "wire/types/change_calls.h"

namespace ttyward::app {

class ChangeSets {
 public:
  explicit ChangeSets(Core& core);

  void change_sets(const Caller& caller, const wire::ChangeSetsRequest& request,
                   const Reply<wire::ChangeSetList>& reply);
  void changes(const Caller& caller, const wire::ChangesRequest& request,
               const Reply<wire::ChangesAnswer>& reply);
  void apply(const Caller& caller, const wire::ApplyRequest& request, const Reply<wire::Applied>& reply);
  void undo(const Caller& caller, const wire::UndoRequest& request, const Reply<wire::Applied>& reply);
  void discard(const Caller& caller, const wire::DiscardRequest& request,
               const Reply<wire::Discarded>& reply);

  // --- for commands that run on a layer
  // Puts the command's plan on a layer (app/layered_run.h). The set is in use until ended().
  base::Result<void> begin(const LayeredRun& run, sandbox::Plan& plan);
  // The process that is the command; may be told more than once.
  void started(const std::string& id, pid_t pid);
  // It could not be started: there is nothing to keep.
  void never_started(const std::string& id);
  // Its list is made in the background. Of a command without a layer: does nothing.
  void ended(const std::string& id);
  // Whether it runs on a layer, or its list is still being made.
  bool unsettled(const std::string& id) const { return running_.contains(id); }
  // Calls `done` when its changes are known. The command has ended.
  void when_settled(const std::string& id, std::function<void()> done);
  // What is known now of a command that ended not long ago, or still runs.
  std::optional<wire::Changes> known(const std::string& id) const;
  // After a start: sets whose commands still run in terminals that were found again are in use.
  void find_again(const std::function<bool(const std::string& id)>& runs);

 private:
  // Does `work` in the background and answers with what it returns.
  template <class T>
  void answer_later(const Reply<T>& reply, std::function<base::Result<T>()> work);
  // Whether the set of this command is this caller's to see. Cheap.
  base::Result<void> check_may_see(const Caller& caller, const std::string& command) const;

  Core& core_;
  changes::Shelf shelf_;
  struct Running {
    std::shared_ptr<changes::ChangeSet> set;  // holds the lock
    bool told_pid = false;
  };
  std::map<std::string, Running> running_;        // by the command's id
  std::map<std::string, wire::Changes> settled_;  // of the last commands that ended
  std::deque<std::string> settled_order_;
  Background background_;  // last: its work uses the rest
};

}  // namespace ttyward::app
