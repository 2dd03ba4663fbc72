#include "app/change_sets.h"

#include <utility>

#include "app/change_objects.h"

namespace ttyward::app {

using changes::ChangeSet;

namespace {

constexpr size_t kMostSettled = 64;

}  // namespace

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

base::Result<void> ChangeSets::begin(const LayeredRun& run, sandbox::Plan& plan) {
  auto prepared = put_on_layer(shelf_, run, plan);
  if (!prepared) return tl::unexpected(prepared.error());
  running_[run.id] = {std::make_shared<ChangeSet>(std::move(prepared->set))};
  return {};
}

void ChangeSets::started(const std::string& id, pid_t pid) {
  const auto found = running_.find(id);
  if (found == running_.end() || found->second.told_pid || pid <= 0) return;
  found->second.told_pid = true;
  if (auto noted = found->second.set->set_keeper(pid); !noted)
    core_.log.warning(noted.error().message, "changes", {{"command", id}});
}

void ChangeSets::never_started(const std::string& id) {
  const auto found = running_.find(id);
  if (found == running_.end()) return;
  static_cast<void>(std::move(*found->second.set).discard());
  running_.erase(found);
}

void ChangeSets::ended(const std::string& id) {
  const auto found = running_.find(id);
  if (found == running_.end()) return;
  const auto set = found->second.set;
  const config::SandboxSettings& settings = core_.settings().sandbox;
  const changes::Keeping keeping = keeping_of(settings);
  // Known to be on its way from now on: whoever waits for it waits behind it.
  auto posted = background_.post([this, alive = core_.alive, shelf = shelf_, set, keeping, id] {
    auto settled = settle_changes(shelf, *set, keeping);
    core_.loop.post([this, alive, id, settled = std::move(settled)] {
      if (!*alive) return;
      running_.erase(id);
      settled_[id] = settled;
      settled_order_.push_back(id);
      if (settled_order_.size() <= kMostSettled) return;
      settled_.erase(settled_order_.front());
      settled_order_.pop_front();
    });
  });
  found->second.set.reset();
  if (!posted) running_.erase(id);  // the list is made when somebody asks for it
}

std::optional<wire::Changes> ChangeSets::known(const std::string& id) const {
  if (const auto found = settled_.find(id); found != settled_.end()) return found->second;
  if (!running_.contains(id)) return std::nullopt;
  wire::Changes made;
  made.state = changes::state_name(changes::State::Running);
  return made;
}

void ChangeSets::when_settled(const std::string& id, std::function<void()> done) {
  if (const auto found = running_.find(id); found != running_.end() && found->second.set) ended(id);
  // The background does one thing after the other, so what is on its way is done before this.
  auto posted = background_.post([this, alive = core_.alive, done] {
    core_.loop.post([alive, done] {
      if (*alive) done();
    });
  });
  if (!posted) done();
}

void ChangeSets::find_again(const std::function<bool(const std::string& id)>& runs) {
  for (const changes::Info& info : shelf_.list()) {
    if (!runs(info.id)) continue;
    auto set = shelf_.open(info.id, ChangeSet::Access::Running);
    if (set && set->info().state == changes::State::Running)
      running_[info.id] = {std::make_shared<ChangeSet>(std::move(*set)), true};
  }
}

}  // namespace ttyward::app
