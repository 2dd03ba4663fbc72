#include "app/approvals.h"

#include <algorithm>
#include <cstdlib>

#include "app/objects.h"
#include "base/hex.h"
#include "base/sha256.h"
#include "gate/rule_text.h"
#include "policy/rule_words.h"
#include "policy/verdict_json.h"
#include "shell/quoting.h"

namespace ttyward::app {

using base::ErrorCode;
using base::fail;

namespace {

// A person may mean any session; others are asked about their own.
std::string session_of(const Caller& caller, const std::string& given) {
  return given.empty() || !caller.sees_everything() ? caller.session : given;
}

gate::Answerer answerer(const Caller& caller) {
  return {caller.connection, gate::Role::Person, caller.client};
}

policy::Mode mode_of(wire::Mode mode) {
  policy::Mode made{};
  static_cast<void>(policy::parse_mode(names_of(mode)[static_cast<size_t>(mode)], made));
  return made;
}

std::vector<wire::UnconfirmedRule> unconfirmed_objects(
    const std::vector<gate::UnconfirmedRule>& unconfirmed) {
  std::vector<wire::UnconfirmedRule> out;
  for (const gate::UnconfirmedRule& each : unconfirmed) {
    const bool added = each.change == gate::UnconfirmedRule::Change::Added;
    out.push_back({added ? "added" : "removed", each.rule.name, policy::in_words(each.rule),
                   policy::to_toml(each.rule)});
  }
  return out;
}

const char* level_name(policy::RuleLevel level) {
  return level == policy::RuleLevel::Global    ? "global"
         : level == policy::RuleLevel::Project ? "project"
                                               : "session";
}

// Of exactly what a person was shown.
std::string digest_of(const std::string& rules, const std::string& settings) {
  return base::to_hex(base::sha256(std::to_string(rules.size()) + " " + rules + settings));
}

}  // namespace

base::Result<wire::Encoded<wire::Verdict>> Approvals::check(const Caller& caller,
                                                            const wire::CheckRequest& asked) {
  Caller agent = caller;
  agent.role = Role::Agent;  // what would happen if an agent asked
  const char* const home = std::getenv("HOME");
  gate::GateRequest request = gatekeeper_.request(
      agent, asked.command, asked.cwd.empty() && home != nullptr ? std::string(home) : asked.cwd);
  request.session = session_of(caller, asked.session);
  if (asked.mode) request.mode = std::min(mode_of(*asked.mode), request.mode.value_or(policy::Mode::Yolo));
  const auto verdict = core_.gate->check(request);
  if (!verdict) return tl::unexpected(verdict.error());
  return wire::Encoded<wire::Verdict>{policy::to_json(*verdict)};
}

void Approvals::permit(const Caller& caller, const wire::PermitRequest& asked,
                       const Reply<wire::Permission>& reply) {
  if (asked.argv.empty() == asked.command.empty())
    return reply.fail(wire::Code::InvalidArgument, "give 'command' or 'argv', and not both");
  std::string line = asked.command;
  for (const std::string& word : asked.argv) line += (line.empty() ? "" : " ") + shell::quote_posix(word);
  const char* const home = std::getenv("HOME");
  const std::string cwd = asked.cwd.empty() && home != nullptr ? std::string(home) : asked.cwd;
  if (const auto outside = gatekeeper_.outside_roots(caller, cwd)) return reply.fail(*outside);
  gate::GateRequest request = gatekeeper_.request(caller, std::move(line), cwd);
  request.action = "permit";
  request.task = asked.task;
  request.command_id.clear();                       // it never becomes a command of ours
  const auto call = std::make_shared<uint64_t>(0);  // while the question is open
  const auto decided = [this, reply, call](const gate::GateDecision& came) {
    if (came.kind == gate::GateDecision::Kind::Pending) return;
    core_.calls.end(*call);
    wire::Permission made;
    made.decision = came.kind == gate::GateDecision::Kind::Allowed   ? "allow"
                    : came.kind == gate::GateDecision::Kind::Skipped ? "skip"
                                                                     : "deny";
    made.reason = came.reason;
    made.approval = came.approval_id;
    made.verdict = {policy::to_json(came.verdict)};
    if (reply.open()) reply.ok(made);
  };
  const gate::GateDecision decision = gatekeeper_.ask(std::move(request), decided);
  if (decision.kind != gate::GateDecision::Kind::Pending) return;
  *call = core_.calls.add(reply, [this, id = decision.approval_id, connection = caller.connection] {
    static_cast<void>(core_.gate->withdraw(id, connection));
  });
  if (!asked.stream) return;
  wire::StreamPart part;
  part.state = "pending_approval";
  part.approval = decision.approval_id;
  part.reason.emplace();
  if (!decision.reason.empty()) part.reason->emplace(decision.reason);
  reply.part(part);
}

wire::ApprovalList Approvals::approvals(const Caller& caller, const wire::ApprovalsRequest& request) const {
  wire::ApprovalList list;
  for (const gate::Approval& approval : core_.gate->list(request.all)) {
    if (core_.may_see(caller, approval.session)) list.approvals.push_back(approval_object(approval));
  }
  return list;
}

base::Result<wire::OneApproval> Approvals::answer(const Caller& caller, const wire::AnswerRequest& request) {
  if (caller.role == Role::Dialogue) {
    // An agent's client may pass on a person's answers to that agent's questions, but not make lasting rules.
    const gate::Approval* asked = core_.gate->find(request.approval);
    if (request.always == wire::Always::Global || asked == nullptr || asked->session != caller.session) {
      return fail(ErrorCode::PermissionDenied,
                  "a client's dialogue can answer only its own agent's questions, once or for that session; "
                  "answer others with `ttyward approvals`");
    }
  }
  gate::Remember remember;
  remember.scope = request.always == wire::Always::Session  ? gate::Always::Session
                   : request.always == wire::Always::Global ? gate::Always::Global
                                                            : gate::Always::No;
  remember.wider = request.wider;
  remember.rules = request.rules;
  const gate::Answer answer = request.decision == wire::AnswerWord::Allow  ? gate::Answer::Allow
                              : request.decision == wire::AnswerWord::Skip ? gate::Answer::Skip
                                                                           : gate::Answer::Deny;
  const auto answered =
      core_.gate->answer(request.approval, answerer(caller), answer, remember, request.reason);
  if (!answered) return tl::unexpected(answered.error());
  return wire::OneApproval{approval_object(*answered)};
}

base::Result<wire::OneApproval> Approvals::withdraw(const Caller& caller,
                                                    const wire::WithdrawRequest& request) {
  const auto withdrawn = core_.gate->withdraw(request.approval, caller.connection);
  if (!withdrawn) return tl::unexpected(withdrawn.error());
  return wire::OneApproval{approval_object(*withdrawn)};
}

wire::RuleList Approvals::rules(const Caller& caller, const wire::RulesRequest& request) {
  const gate::RuleList list = core_.gate->rules(session_of(caller, request.session), request.cwd);
  wire::RuleList made;
  for (const gate::ListedRule& rule : list.rules)
    made.rules.push_back({rule.rule.name, level_name(rule.rule.level), rule.text, rule.source});
  made.errors = list.errors;
  made.unconfirmed = unconfirmed_objects(list.unconfirmed);
  return made;
}

base::Result<wire::AddedRules> Approvals::rule_add(const Caller& caller,
                                                   const wire::RuleAddRequest& request) {
  auto added = core_.gate->add_rules(request.text, request.replaces, answerer(caller));
  if (!added) return tl::unexpected(added.error());
  return wire::AddedRules{std::move(*added)};
}

base::Result<wire::RemovedRules> Approvals::rule_remove(const Caller& caller,
                                                        const wire::RuleRemoveRequest& request) {
  const std::string session = session_of(caller, request.session);
  const bool of_session = request.scope == wire::RuleScope::Session;
  if (of_session && session.empty())
    return fail(ErrorCode::InvalidArgument,
                "'session' is missing: name the session that the rule belongs to");
  const auto removed = core_.gate->remove_rule(of_session ? session : "", request.name, answerer(caller));
  if (!removed) return tl::unexpected(removed.error());
  return wire::RemovedRules{*removed};
}

base::Result<wire::Unconfirmed> Approvals::rules_unconfirmed(const Caller&,
                                                             const wire::RulesUnconfirmedRequest& request) {
  reload_();
  const gate::RuleList list = core_.gate->rules("", request.cwd);
  if (!list.errors.empty())
    return fail(ErrorCode::InvalidArgument,
                "the rule file has an error; fix it first: " + list.errors.front());
  const auto text = gate::read_rule_file(core_.gate->rules_file());
  if (!text) return tl::unexpected(text.error());
  const gate::ConfirmedConfig& confirmed = core_.configuration.confirmed();
  wire::Unconfirmed made;
  made.rules = unconfirmed_objects(list.unconfirmed);
  for (const gate::LoosenedSetting& each : confirmed.unconfirmed)
    made.settings.push_back({each.name, each.holds, each.wanted, each.where});
  made.problem = core_.configuration.confirmations().problem();
  made.digest = digest_of(*text, confirmed.file_lines);
  return made;
}

base::Result<wire::Confirmed> Approvals::rules_confirm(const Caller& caller,
                                                       const wire::RulesConfirmRequest& request) {
  reload_();
  auto text = gate::read_rule_file(core_.gate->rules_file());
  if (!text) return tl::unexpected(text.error());
  const std::string& settings = core_.configuration.confirmed().file_lines;
  if (request.digest != digest_of(*text, settings)) {
    return fail(ErrorCode::InvalidArgument, "the files changed after they were shown; look at them again");
  }
  const auto stored = core_.configuration.confirmations().store({std::move(*text), settings}, caller.client);
  if (!stored) return tl::unexpected(stored.error());
  core_.log.info(
      "rules and settings were confirmed by " + caller.client + ", pid " + std::to_string(caller.pid),
      "policy", {{"client", caller.client}, {"pid", caller.pid}});
  reload_();
  static_cast<void>(core_.gate->unconfirmed_notice());
  return wire::Confirmed{};
}

base::Result<wire::CurrentMode> Approvals::mode(const Caller& caller, const wire::ModeRequest& request) {
  const std::string session = session_of(caller, request.session);
  if (request.set) {
    const auto role = caller.role == Role::Person ? gate::Role::Person : gate::Role::Agent;
    if (auto done = core_.gate->set_mode(session, mode_of(*request.set), role); !done)
      return tl::unexpected(done.error());
  }
  const policy::Mode now = core_.gate->mode(session);
  wire::CurrentMode made;
  for (const wire::Mode each :
       {wire::Mode::Plan, wire::Mode::Default, wire::Mode::AutoEdit, wire::Mode::Auto, wire::Mode::Yolo}) {
    if (mode_of(each) == now) made.mode = each;
  }
  return made;
}

}  // namespace ttyward::app
