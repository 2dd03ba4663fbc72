// What may run, who was asked, what was decided: the gate and the store, as calls.
#include <boost/json/array.hpp>

#include "daemon/engine_application.h"
#include "daemon/objects.h"
#include "engine/time.h"
#include "policy/verdict_json.h"

namespace ttyward::daemon {

namespace json = boost::json;

namespace {

std::optional<store::Decision> decision_of(engine::Outcome outcome) {
  switch (outcome) {
    case engine::Outcome::Allowed:
      return store::Decision::Allow;
    case engine::Outcome::AskAllowed:
      return store::Decision::AskAllow;
    case engine::Outcome::Skipped:
      return store::Decision::Skip;
    case engine::Outcome::Expired:
      return store::Decision::Expired;
    case engine::Outcome::Withdrawn:
      return store::Decision::Withdrawn;
    case engine::Outcome::Denied:
      return store::Decision::Deny;
  }
  return std::nullopt;
}

}  // namespace

std::string EngineApplication::session_of(const Caller& caller, Args& args) const {
  const std::string given = args.text("session");
  return given.empty() ? caller.session : given;
}

void EngineApplication::check(const Caller& caller, Args& args, const Responder& responder) {
  engine::GateRequest request = gate_request(caller, args.required_text("command"), args.text("cwd"));
  request.session = session_of(caller, args);
  const std::string mode = args.text("mode");
  if (!mode.empty()) {
    policy::Mode parsed_mode{};
    if (!policy::parse_mode(mode, parsed_mode)) args.wrong("'mode' must be plan, default, auto-edit or yolo");
    request.mode = parsed_mode;
  }
  // What would happen if an agent asked.
  request.role = engine::Role::Agent;
  if (request.cwd.empty()) {
    if (const char* home = std::getenv("HOME")) request.cwd = home;
  }
  if (args.refused(responder)) return;
  const auto verdict = gate_->check(request);
  if (!verdict) return responder.fail(wire::call_error(verdict.error()));
  responder.ok(parsed(policy::to_json(*verdict)));
}

void EngineApplication::approvals(const Caller&, Args& args, const Responder& responder) {
  const bool all = args.flag("all");
  if (args.refused(responder)) return;
  json::array list;
  for (const engine::Approval& approval : gate_->list(all)) list.push_back(parsed(approval.to_json()));
  responder.ok({{"approvals", std::move(list)}});
}

void EngineApplication::answer(const Caller& caller, Args& args, const Responder& responder) {
  const std::string id = args.required_text("approval");
  const std::string decision = args.choice("decision", {"deny", "allow", "skip"});
  if (!args.has("decision")) args.wrong("'decision' is missing: allow, deny or skip");
  const std::string always = args.choice("always", {"no", "session", "global"});
  const std::string reason = args.text("reason");
  if (args.refused(responder)) return;
  const engine::Answerer by{caller.connection, engine::Role::Person, caller.client};
  const auto answered = gate_->answer(id, by,
                                      decision == "allow"  ? engine::Answer::Allow
                                      : decision == "skip" ? engine::Answer::Skip
                                                           : engine::Answer::Deny,
                                      always == "session"  ? engine::Always::Session
                                      : always == "global" ? engine::Always::Global
                                                           : engine::Always::No,
                                      reason);
  if (!answered) return responder.fail(wire::call_error(answered.error()));
  responder.ok({{"approval", parsed(answered->to_json())}});
}

void EngineApplication::withdraw(const Caller& caller, Args& args, const Responder& responder) {
  const std::string id = args.required_text("approval");
  if (args.refused(responder)) return;
  const auto withdrawn = gate_->withdraw(id, caller.connection);
  if (!withdrawn) return responder.fail(wire::call_error(withdrawn.error()));
  responder.ok({{"approval", parsed(withdrawn->to_json())}});
}

void EngineApplication::rules(const Caller& caller, Args& args, const Responder& responder) {
  const std::string session = session_of(caller, args);
  const std::string cwd = args.text("cwd");
  if (args.refused(responder)) return;
  const engine::RuleList list = gate_->rules(session, cwd);
  json::array made;
  for (const engine::ListedRule& rule : list.rules) {
    const char* const level = rule.rule.level == policy::RuleLevel::Global    ? "global"
                              : rule.rule.level == policy::RuleLevel::Project ? "project"
                                                                              : "session";
    made.push_back(json::object{
        {"name", rule.rule.name}, {"level", level}, {"text", rule.text}, {"source", rule.source}});
  }
  json::array errors;
  for (const std::string& error : list.errors) errors.emplace_back(error);
  responder.ok({{"rules", std::move(made)}, {"errors", std::move(errors)}});
}

void EngineApplication::rule_remove(const Caller& caller, Args& args, const Responder& responder) {
  const std::string name = args.required_text("name");
  const std::string scope = args.choice("scope", {"global", "session"});
  const std::string session = session_of(caller, args);
  if (scope == "session" && session.empty()) args.wrong("'session' is missing: whose rule is it?");
  if (args.refused(responder)) return;
  const auto removed = gate_->remove_rule(scope == "session" ? session : "", name, engine::Role::Person);
  if (!removed) return responder.fail(wire::call_error(removed.error()));
  responder.ok({{"removed", *removed}});
}

void EngineApplication::mode(const Caller& caller, Args& args, const Responder& responder) {
  const std::string session = session_of(caller, args);
  const std::string set = args.text("set");
  policy::Mode wanted{};
  if (!set.empty() && !policy::parse_mode(set, wanted)) {
    args.wrong("'set' must be plan, default, auto-edit or yolo");
  }
  if (args.refused(responder)) return;
  if (!set.empty()) {
    const auto role = caller.role == Role::Person ? engine::Role::Person : engine::Role::Agent;
    if (auto done = gate_->set_mode(session, wanted, role); !done) {
      return responder.fail(wire::call_error(done.error()));
    }
  }
  responder.ok({{"mode", std::string(policy::name_of(gate_->mode(session)))}});
}

void EngineApplication::history(const Caller&, Args& args, const Responder& responder) {
  store::HistoryQuery query;
  query.text = args.text("text");
  query.exit = args.flag("failed") ? store::ExitFilter::Failed : store::ExitFilter::Any;
  query.cwd = args.text("cwd");
  query.terminal = args.text("terminal");
  query.task = args.text("task");
  query.since_ms = args.maybe_number("since_at", 0, INT64_MAX);
  query.until_ms = args.maybe_number("until_at", 0, INT64_MAX);
  query.limit = static_cast<int>(args.number("limit", 50, 1, store::kMaxRows));
  query.before_id = args.text("before");
  if (args.refused(responder)) return;
  ask_store(responder, [this, alive = alive_, query, responder](store::Store& store) {
    auto rows = store.find_commands(query);
    loop_->post([alive, rows = std::move(rows), responder] {
      if (!*alive) return;
      if (!rows) return responder.fail(wire::call_error(rows.error()));
      json::array list;
      for (const store::CommandRow& row : *rows) list.push_back(row_object(row));
      responder.ok({{"commands", std::move(list)}});
    });
  });
}

void EngineApplication::decisions(const Caller&, Args& args, const Responder& responder) {
  store::DecisionQuery query;
  query.text = args.text("text");
  query.cwd = args.text("cwd");
  query.terminal = args.text("terminal");
  query.since_ms = args.maybe_number("since_at", 0, INT64_MAX);
  query.until_ms = args.maybe_number("until_at", 0, INT64_MAX);
  query.limit = static_cast<int>(args.number("limit", 50, 1, store::kMaxRows));
  query.before_id = args.text("before");
  static_cast<void>(args.text("task"));
  if (args.flag("failed")) query.decision = store::Decision::Deny;
  if (args.refused(responder)) return;
  ask_store(responder, [this, alive = alive_, query, responder](store::Store& store) {
    auto rows = store.find_decisions(query);
    loop_->post([alive, rows = std::move(rows), responder] {
      if (!*alive) return;
      if (!rows) return responder.fail(wire::call_error(rows.error()));
      json::array list;
      for (const store::DecisionRow& row : *rows) list.push_back(row_object(row));
      responder.ok({{"decisions", std::move(list)}});
    });
  });
}

void EngineApplication::ask_store(const Responder& responder, store::Worker::Work work) {
  const bool posted = store_->post(std::move(work), [this, alive = alive_, responder](const base::Error&) {
    loop_->post([alive, responder] {
      if (!*alive) return;
      responder.fail({wire::Code::Unavailable, "no history is kept; `ttyward daemon status` says why"});
    });
  });
  if (!posted) responder.fail({wire::Code::Exhausted, "the history is too busy; try again in a moment"});
}

void EngineApplication::record(const engine::AuditRow& audit) {
  store::DecisionRow row;
  row.id = audit.id;
  row.at_ms = audit.at_ms;
  row.command_id = audit.command_id;
  row.terminal_id = audit.terminal_id;
  row.asked_by = audit.asked_by;
  row.command = audit.command;
  row.cwd = audit.cwd;
  row.decision = decision_of(audit.outcome).value_or(store::Decision::Deny);
  row.decided_by = audit.decided_by;
  row.risk = audit.risk;
  row.effects = audit.effects;
  row.reason = audit.reason;
  row.answered_by = audit.answered_by;
  if (audit.answered_at_ms != 0) row.answered_at_ms = audit.answered_at_ms;
  keep([row](store::Store& store) { static_cast<void>(store.put_decision(row)); });
}

void EngineApplication::session_rule_added(const std::string& session, const std::string& rule,
                                           const std::string& by) {
  store::SessionRule row;
  row.scope = session;
  row.rule = rule;
  row.created_at_ms = engine::unix_ms();
  row.created_by = by;
  keep([row](store::Store& store) { static_cast<void>(store.put_session_rule(row)); });
}

void EngineApplication::session_rule_removed(const std::string& session, const std::string& rule) {
  keep([session, rule](store::Store& store) {
    const auto rules = store.session_rules(session);
    if (!rules) return;
    for (const store::SessionRule& row : *rules) {
      if (row.rule == rule) static_cast<void>(store.remove_session_rule(row.number));
    }
  });
}

void EngineApplication::on_opened(const engine::Approval& approval) {
  if (const std::string& url = config_.settings.notify.webhook; !url.empty())
    webhook_->send(url, webhook_body(approval));
  tell("approval_opened", approval.terminal_id, {{"approval", parsed(approval.to_json())}});
}

void EngineApplication::on_closed(const engine::Approval& approval) {
  tell("approval_closed", approval.terminal_id, {{"approval", parsed(approval.to_json())}});
}

}  // namespace ttyward::daemon
