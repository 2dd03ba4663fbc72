#include "app/change_sets.h"

#include <utility>

#include "app/change_objects.h"

namespace ttyward::app {

using changes::ChangeSet;

ChangeSets::ChangeSets(Core& core) : core_(core), shelf_(core.configuration.folders()) {}

template <class T>
void ChangeSets::answer_later(const Reply<T>& reply, std::function<base::Result<T>()> work) {
  auto posted = background_.post([this, alive = core_.alive, reply, work = std::move(work)] {
    auto came = work();
    core_.loop.post([alive, reply, came = std::move(came)] {
      if (*alive && reply.open()) reply.give(came);
    });
  });
  if (!posted) reply.fail(posted.error());
}

base::Result<void> ChangeSets::check_may_see(const Caller& caller, const std::string& command) const {
  auto set = shelf_.open(command, ChangeSet::Access::Read);
  if (!set) return tl::unexpected(set.error());
  if (!core_.may_see(caller, set->info().session))
    return base::fail(base::ErrorCode::NotFound, "there is no change set " + command + " of this session");
  return {};
}

void ChangeSets::change_sets(const Caller& caller, const wire::ChangeSetsRequest& /*request*/,
                             const Reply<wire::ChangeSetList>& reply) {
  const bool all = caller.sees_everything() || core_.settings().policy.share_agent_terminals;
  answer_later<wire::ChangeSetList>(
      reply, [shelf = shelf_, all, session = caller.session]() -> base::Result<wire::ChangeSetList> {
        wire::ChangeSetList made;
        for (const changes::Info& info : shelf.list())
          if (all || info.session == session) made.sets.push_back(row_object(info));
        return made;
      });
}

void ChangeSets::changes(const Caller& caller, const wire::ChangesRequest& request,
                         const Reply<wire::ChangesAnswer>& reply) {
  if (auto may = check_may_see(caller, request.command); !may) return reply.fail(may.error());
  answer_later<wire::ChangesAnswer>(reply,
                                    [shelf = shelf_, request] { return answer_changes(shelf, request); });
}

void ChangeSets::apply(const Caller& caller, const wire::ApplyRequest& request,
                       const Reply<wire::Applied>& reply) {
  if (auto may = check_may_see(caller, request.command); !may) return reply.fail(may.error());
  answer_later<wire::Applied>(reply, [shelf = shelf_, request]() -> base::Result<wire::Applied> {
    auto set = shelf.open(request.command, ChangeSet::Access::Exclusive);
    if (!set) return tl::unexpected(set.error());
    auto applied = set->apply({request.paths, request.force});
    if (!applied) return tl::unexpected(applied.error());
    return applied_object(request.command, *applied);
  });
}

void ChangeSets::undo(const Caller& caller, const wire::UndoRequest& request,
                      const Reply<wire::Applied>& reply) {
  if (!request.command.empty()) {
    if (auto may = check_may_see(caller, request.command); !may) return reply.fail(may.error());
  }
  answer_later<wire::Applied>(reply, [shelf = shelf_, request] { return undo_changes(shelf, request); });
}

void ChangeSets::discard(const Caller& caller, const wire::DiscardRequest& request,
                         const Reply<wire::Discarded>& reply) {
  if (auto may = check_may_see(caller, request.command); !may) return reply.fail(may.error());
  answer_later<wire::Discarded>(reply, [shelf = shelf_, request]() -> base::Result<wire::Discarded> {
    auto set = shelf.open(request.command, ChangeSet::Access::Exclusive);
    if (!set) return tl::unexpected(set.error());
    if (auto gone = std::move(*set).discard(); !gone) return tl::unexpected(gone.error());
    return wire::Discarded{};
  });
}

}  // namespace ttyward::app
