// The service for change sets: what commands that ran with `try` changed, and what becomes of it.
//
// The sets are files (changes/change_set.h), so another daemon, or the command line without one, goes on
// where this one stopped. File work is done in the background. Thread rule: the loop's thread.
#pragma once

#include <functional>
#include <memory>
#include <string>

#include "app/background.h"
#include "app/caller.h"
#include "app/core.h"
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

 private:
  // Does `work` in the background and answers with what it returns.
  template <class T>
  void answer_later(const Reply<T>& reply, std::function<base::Result<T>()> work);
  // Whether the set of this command is this caller's to see. Cheap.
  base::Result<void> check_may_see(const Caller& caller, const std::string& command) const;

  Core& core_;
  changes::Shelf shelf_;
  Background background_;  // last: its work uses the rest
};

}  // namespace ttyward::app
