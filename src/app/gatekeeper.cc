#include "app/gatekeeper.h"

#include <cstdlib>
#include <utility>

#include "app/objects.h"
#include "app/sandbox_plan.h"
#include "base/ids.h"
#include "base/unix_time.h"
#include "gate/allowed_roots.h"
#include "gate/policy_settings.h"
#include "policy/verdict_json.h"

namespace ttyward::app {

using gate::GateDecision;
using terminal::CommandState;

namespace {

constexpr size_t kRefusedKept = 256;  // for those who ask about them later

gate::Role gate_role(Role role) {
  return role == Role::Person  ? gate::Role::Person
         : role == Role::Agent ? gate::Role::Agent
                               : gate::Role::Viewer;
}

}  // namespace

std::optional<wire::CallError> Gatekeeper::outside_roots(const Caller& caller, const std::string& cwd) const {
  if (caller.role == Role::Person) return std::nullopt;
  const char* const home = std::getenv("HOME");
  const std::string asked = cwd.empty() ? (home != nullptr ? home : "/") : cwd;
  std::string why = gate::outside_roots(policy_at(asked, core_.settings().policy.mode).allowed_roots, asked);
  if (why.empty()) return std::nullopt;
  return wire::CallError{wire::Code::PermissionDenied, std::move(why)};
}

policy::Confinable Gatekeeper::confinable(const Caller& caller, const std::string& cwd) const {
  if (caller.role != Role::Agent || !policy_at(cwd, core_.settings().policy.mode).confine)
    return policy::Confinable::No;
  const char* const home = std::getenv("HOME");
  return can_confine(cwd, home != nullptr ? home : "") ? policy::Confinable::Alone : policy::Confinable::No;
}

gate::GateRequest Gatekeeper::request(const Caller& caller, std::string command, std::string cwd,
                                      std::string command_id) const {
  gate::GateRequest request;
  request.command = std::move(command);
  request.cwd = std::move(cwd);
  request.session = caller.session;
  request.asked_by = caller.client;
  request.connection = caller.connection;
  request.role = gate_role(caller.role);
  request.command_id = command_id.empty() ? base::random_id('c') : std::move(command_id);
  if (request.role == gate::Role::Agent) tighten_for_project(request);
  return request;
}

config::PolicySettings Gatekeeper::policy_at(const std::string& cwd, config::PolicyMode mode) const {
  config::Loaded there;
  there.settings.policy = core_.settings().policy;
  there.settings.policy.mode = mode;
  if (!cwd.empty()) config::tighten_for_project(there, cwd);
  return there.settings.policy;
}

void Gatekeeper::tighten_for_project(gate::GateRequest& request) const {
  // On top of the laxest mode: what comes of it can only tighten the session's own.
  config::PolicySettings there = policy_at(request.cwd, config::PolicyMode::Yolo);
  request.mode = gate::mode_of(there.mode);
  request.ask_about_safe = !there.auto_approve_safe_commands;
  request.confirm_dangerous = there.confirm_dangerous_commands;
  request.allowed_roots = std::move(there.allowed_roots);
}

GateDecision Gatekeeper::ask(gate::GateRequest request, const Decided& decided) {
  GateDecision decision =
      core_.gate->ask(std::move(request), [this, alive = core_.alive, decided](const GateDecision& came) {
        if (!*alive) return;
        // The command is started or refused first: a `wait` for the approval answers with its result.
        decided(came);
        auto waiters = waiters_.extract(came.approval_id);
        if (waiters.empty()) return;
        for (const auto& waiter : waiters.mapped()) waiter();
      });
  if (decision.kind != GateDecision::Kind::Pending) decided(decision);
  return decision;
}

terminal::CommandResult Gatekeeper::refused_result(terminal::CommandResult facts,
                                                   const GateDecision& decision) {
  facts.state = decision.kind == GateDecision::Kind::Skipped ? CommandState::Skipped : CommandState::Denied;
  facts.reason = decision.reason;
  facts.verdict_json = policy::to_json(decision.verdict);
  facts.approval = decision.approval_id;
  return facts;
}

void Gatekeeper::remember_refused(const terminal::CommandResult& refused, const std::string& session) {
  pending_[refused.command_id] = PendingCommand{refused, session};
  refused_order_.push_back(refused.command_id);
  if (refused_order_.size() <= kRefusedKept) return;
  pending_.erase(refused_order_.front());
  refused_order_.erase(refused_order_.begin());
}

void Gatekeeper::ask_for_command(const Caller& caller, gate::GateRequest request,
                                 std::chrono::milliseconds yield_after,
                                 const Reply<wire::CommandResult>& reply,
                                 const std::function<void(const policy::Verdict&)>& go) {
  terminal::CommandResult facts;
  facts.command_id = request.command_id;
  facts.terminal_id = request.terminal_id;
  facts.command = request.command;
  facts.cwd = request.cwd;
  facts.started_at_ms = base::unix_ms();
  const std::string session = request.session;
  // The key of the open call is not known yet when `decided` is made, and stays 0 if the gate decides at
  // once.
  const auto call = std::make_shared<uint64_t>(0);  // while the question is open
  const auto decided = [this, facts, go, reply, session, task = request.task,
                        by = row_owner(owner_of(caller)), call](const GateDecision& came) {
    core_.calls.end(*call);
    if (came.kind == GateDecision::Kind::Allowed) {
      pending_.erase(facts.command_id);
      return go(came.verdict);
    }
    if (came.kind == GateDecision::Kind::Pending) return;
    const terminal::CommandResult refused = refused_result(facts, came);
    remember_refused(refused, session);
    store::CommandRow row = row_of(refused);
    row.task = task;
    row.owner = by;
    keep_(std::move(row));
    reply.ok(result_object(refused));
  };
  const GateDecision decision = ask(std::move(request), decided);
  if (decision.kind != GateDecision::Kind::Pending) return;
  facts.state = CommandState::PendingApproval;
  facts.reason = decision.reason;
  facts.verdict_json = policy::to_json(decision.verdict);
  facts.approval = decision.approval_id;
  pending_[facts.command_id] = PendingCommand{facts, session};
  *call = core_.calls.add(reply);
  if (yield_after.count() == 0) return;
  core_.calls.after(*call, yield_after, [this, id = facts.command_id, reply, key = *call] {
    if (const PendingCommand* waits = find(id)) answer(*waits, reply);
    core_.calls.end(key);
  });
}

void Gatekeeper::answer(const PendingCommand& command, const Reply<wire::CommandResult>& reply) {
  core_.gate->keep(command.facts.approval);
  reply.ok(result_object(command.facts));
}

void Gatekeeper::cannot_start(terminal::CommandResult facts, const std::string& session,
                              const wire::CallError& error, const Reply<wire::CommandResult>& reply) {
  if (reply.open()) return reply.fail(error);
  facts.state = CommandState::FailedToStart;
  facts.reason = error.message;
  remember_refused(facts, session);
}

const PendingCommand* Gatekeeper::find(const std::string& command_id) const {
  const auto found = pending_.find(command_id);
  return found != pending_.end() ? &found->second : nullptr;
}

void Gatekeeper::when_answered(const std::string& approval, std::function<void()> callback) {
  waiters_[approval].push_back(std::move(callback));
}

}  // namespace ttyward::app
