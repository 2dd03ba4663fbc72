#include "app/history.h"

#include <unistd.h>

#include <algorithm>
#include <utility>
#include <vector>

#include "app/objects.h"
#include "base/ids.h"
#include "base/mask_secrets.h"
#include "base/unix_time.h"

namespace ttyward::app {

namespace {

// A daemon may live for months; the history is this much over its limit at most.
constexpr int kRowsBetweenPrunings = 4096;

store::Decision decision_of(gate::Outcome outcome) {
  switch (outcome) {
    case gate::Outcome::Allowed:
      return store::Decision::Allow;
    case gate::Outcome::AskAllowed:
      return store::Decision::AskAllow;
    case gate::Outcome::Skipped:
      return store::Decision::Skip;
    case gate::Outcome::Expired:
      return store::Decision::Expired;
    case gate::Outcome::Withdrawn:
      return store::Decision::Withdrawn;
    case gate::Outcome::Denied:
      return store::Decision::Deny;
  }
  return store::Decision::Deny;
}

std::optional<int64_t> ms_of(const std::optional<wire::Time>& time) {
  return time ? std::optional<int64_t>(time->ms) : std::nullopt;
}

}  // namespace

History::History(Core& core, std::function<void(const std::string&)> warn) : core_(core) {
  const auto tell = [this, alive = core_.alive, warn = std::move(warn)](const std::string& message) {
    core_.loop.post([alive, warn, message] {
      if (*alive) warn(message);
    });
  };
  const std::string path = core_.configuration.folders().history();
  const auto look = [this, alive = core_.alive, path] {
    if (*alive && !recorded_) recorded_.emplace(path);
  };
  if (::access(path.c_str(), F_OK) == 0) look();
  store_ = std::make_unique<store::Worker>([this, path, tell, look] {
    auto opened = store::Store::open(path);
    if (!opened) {
      tell("no history is kept: " + opened.error().message);
    } else {
      for (const std::string& notice : opened->take_notices()) tell(notice);
      core_.loop.post(look);
    }
    return opened;
  });
  prune();
}

void History::restore_session_rules() {
  keep([this, alive = core_.alive](store::Store& store) {
    auto rules = store.session_rules(std::nullopt);
    if (!rules || rules->empty()) return;
    core_.loop.post([this, alive, rules = std::move(*rules)] {
      if (!*alive) return;
      for (const store::SessionRule& rule : rules)
        static_cast<void>(core_.gate->restore_session_rule(rule.scope, rule.rule));
    });
  });
}

void History::prune() {
  const config::LimitSettings& limits = core_.settings().limits;
  const int64_t oldest =
      limits.history_days == 0 ? 0 : base::unix_ms() - limits.history_days * 24 * 3600 * 1000;
  keep([rows = limits.history_rows, oldest](store::Store& store) {
    static_cast<void>(store.prune(rows, oldest));
  });
}

void History::keep(std::function<void(store::Store&)> work) {
  if (!store_->post(std::move(work))) not_recorded_++;
}

void History::put(store::CommandRow row) {
  keep([row = std::move(row)](store::Store& store) { static_cast<void>(store.put_command(row)); });
  if (++since_pruning_ < kRowsBetweenPrunings) return;
  since_pruning_ = 0;
  prune();
}

void History::put_once(store::CommandRow row, std::function<void(const store::CommandRow& row)> if_new) {
  const auto tell = [this, alive = core_.alive, row, if_new = std::move(if_new)] {
    core_.loop.post([alive, row, if_new] {
      if (*alive) if_new(row);
    });
  };
  const bool posted = store_->post(
      [tell, row](store::Store& store) {
        const auto before = store.command(row.id);
        static_cast<void>(store.put_command(row));
        if (!before || !*before) tell();
      },
      [tell](const base::Error&) { tell(); });
  if (posted) return;
  not_recorded_++;
  if_new(row);
}

bool History::has(const std::string& command_id) {
  return recorded_ && recorded_->has(command_id);
}

void History::ask(const ReplyBase& reply, store::Worker::Work work) {
  const bool posted = store_->post(std::move(work), [this, alive = core_.alive, reply](const base::Error&) {
    core_.loop.post([alive, reply] {
      if (!*alive) return;
      reply.fail(wire::Code::Unavailable, "no history is kept; `ttyward daemon status` says why");
    });
  });
  if (!posted) reply.fail(wire::Code::Exhausted, "the history is too busy; try again in a moment");
}

void History::history(const Caller& caller, const wire::HistoryRequest& request,
                      const Reply<wire::CommandList>& reply) {
  store::HistoryQuery query;
  query.text = request.text;
  query.exit = request.failed ? store::ExitFilter::Failed : store::ExitFilter::Any;
  query.cwd = request.cwd;
  query.terminal = request.terminal;
  query.task = request.task;
  query.since_ms = ms_of(request.since_at);
  query.until_ms = ms_of(request.until_at);
  query.limit = static_cast<int>(request.limit);
  query.before_id = request.before;
  ask(reply, [this, alive = core_.alive, query, all = caller.sees_everything(), reply](store::Store& store) {
    auto rows = store.find_commands(query);
    // What people ran is not for agents.
    if (rows && !all) std::erase_if(*rows, [](const auto& row) { return row.owner != store::Owner::Agent; });
    core_.loop.post([alive, rows = std::move(rows), reply] {
      if (!*alive) return;
      if (!rows) return reply.fail(rows.error());
      wire::CommandList list;
      for (const store::CommandRow& row : *rows) list.commands.push_back(row_object(row));
      reply.ok(list);
    });
  });
}

namespace {

constexpr int kRunsLookedAt = 50;
constexpr size_t kRunsCounted = 9;
constexpr size_t kLeastRuns = 2;

template <class Number>
Number median(std::vector<Number> numbers) {
  const auto middle = numbers.begin() + static_cast<std::ptrdiff_t>(numbers.size() / 2);
  std::nth_element(numbers.begin(), middle, numbers.end());
  return *middle;
}

// Of those that ended by themselves: one that was stopped says nothing about the next.
std::optional<wire::UsualRun> usual_of(const std::vector<store::CommandRow>& rows, const std::string& command,
                                       const std::string& cwd) {
  std::vector<int64_t> times;
  std::vector<uint64_t> lines;
  for (const store::CommandRow& row : rows) {
    if (row.command != command || row.cwd != cwd || row.state != "exited" || !row.duration_ms ||
        row.owner != store::Owner::Agent || times.size() == kRunsCounted)
      continue;
    times.push_back(*row.duration_ms);
    lines.push_back(row.total_lines);
  }
  if (times.size() < kLeastRuns) return std::nullopt;
  return wire::UsualRun{median(times), median(lines), times.size()};
}

}  // namespace

void History::usual(const std::string& command, const std::string& cwd,
                    std::function<void(const std::optional<wire::UsualRun>&)> then) {
  store::HistoryQuery query;
  query.text = command;
  query.cwd = cwd;
  query.limit = kRunsLookedAt;
  const auto answer = [this, alive = core_.alive, then](const std::optional<wire::UsualRun>& known) {
    core_.loop.post([alive, then, known] {
      if (*alive) then(known);
    });
  };
  const bool posted = store_->post(
      [answer, query, command, cwd](store::Store& store) {
        const auto rows = store.find_commands(query);
        answer(rows ? usual_of(*rows, command, cwd) : std::nullopt);
      },
      [answer](const base::Error&) { answer(std::nullopt); });
  if (!posted) answer(std::nullopt);
}

void History::decisions(const Caller&, const wire::DecisionsRequest& request,
                        const Reply<wire::DecisionList>& reply) {
  store::DecisionQuery query;
  query.text = request.text;
  query.cwd = request.cwd;
  query.terminal = request.terminal;
  query.since_ms = ms_of(request.since_at);
  query.until_ms = ms_of(request.until_at);
  query.limit = static_cast<int>(request.limit);
  query.before_id = request.before;
  if (request.failed) query.decision = store::Decision::Deny;
  ask(reply, [this, alive = core_.alive, query, reply](store::Store& store) {
    auto rows = store.find_decisions(query);
    core_.loop.post([alive, rows = std::move(rows), reply] {
      if (!*alive) return;
      if (!rows) return reply.fail(rows.error());
      wire::DecisionList list;
      for (const store::DecisionRow& row : *rows) list.decisions.push_back(row_object(row));
      reply.ok(list);
    });
  });
}

void History::note_act(const Caller& caller, const engine::Terminal& terminal, const Act& act) {
  gate::AuditRow row;
  row.id = base::random_id('d');
  row.at_ms = base::unix_ms();
  row.action = act.action;
  row.terminal_id = terminal.id();
  row.task = terminal.spec().task;
  row.session = caller.session;
  row.asked_by = caller.client;
  row.command = base::mask_secrets(act.what);
  row.cwd = terminal.cwd();
  row.outcome = act.allowed ? gate::Outcome::Allowed : gate::Outcome::Denied;
  const bool own = terminal.spec().owner == engine::Owner::Agent;
  row.decided_by = !act.decided_by.empty() ? act.decided_by : own ? "own terminal" : "loan";
  row.risk = "low";
  row.reason = base::mask_secrets(act.reason);
  record(row);
}

void History::record(const gate::AuditRow& audit) {
  if (on_decision_) on_decision_(audit);
  store::DecisionRow row;
  row.id = audit.id;
  row.at_ms = audit.at_ms;
  row.command_id = audit.command_id;
  row.terminal_id = audit.terminal_id;
  row.action = audit.action;
  row.asked_by = audit.asked_by;
  row.command = audit.command;
  row.cwd = audit.cwd;
  row.decision = decision_of(audit.outcome);
  row.decided_by = audit.decided_by;
  row.risk = audit.risk;
  row.effects = audit.effects;
  row.reason = audit.reason;
  row.answered_by = audit.answered_by;
  if (audit.answered_at_ms != 0) row.answered_at_ms = audit.answered_at_ms;
  keep([row](store::Store& store) { static_cast<void>(store.put_decision(row)); });
}

void History::session_rule_added(const std::string& session, const std::string& rule, const std::string& by) {
  store::SessionRule row;
  row.scope = session;
  row.rule = rule;
  row.created_at_ms = base::unix_ms();
  row.created_by = by;
  keep([row](store::Store& store) { static_cast<void>(store.put_session_rule(row)); });
}

void History::session_rule_removed(const std::string& session, const std::string& rule) {
  keep([session, rule](store::Store& store) {
    const auto rules = store.session_rules(session);
    if (!rules) return;
    for (const store::SessionRule& row : *rules) {
      if (row.rule == rule) static_cast<void>(store.remove_session_rule(row.number));
    }
  });
}

}  // namespace ttyward::app
