// May it run, and where: every command of every call passes here.
#include <cstdlib>

#include "base/ids.h"
#include "daemon/engine_application.h"
#include "daemon/objects.h"
#include "engine/allowed_roots.h"
#include "engine/policy_settings.h"
#include "engine/time.h"
#include "policy/verdict_json.h"

namespace ttyward::daemon {

using engine::GateDecision;
using terminal::CommandState;

namespace {

// Commands that wait for a person, or were refused, for those who ask later.
constexpr size_t kPendingKept = 256;

engine::Role gate_role(Role role) {
  return role == Role::Person  ? engine::Role::Person
         : role == Role::Agent ? engine::Role::Agent
                               : engine::Role::Viewer;
}

}  // namespace

bool EngineApplication::outside_roots(const Caller& caller, const std::string& cwd,
                                      const Responder& responder) const {
  if (caller.role == Role::Person) return false;
  const char* const home = std::getenv("HOME");
  const std::string asked = cwd.empty() ? (home != nullptr ? home : "/") : cwd;
  std::string why = engine::outside_roots(config_.settings.policy.allowed_roots, asked);
  if (why.empty()) return false;
  responder.fail({wire::Code::PermissionDenied, std::move(why)});
  return true;
}

engine::GateRequest EngineApplication::gate_request(const Caller& caller, std::string command,
                                                    std::string cwd, std::string command_id) const {
  engine::GateRequest request;
  request.command = std::move(command);
  request.cwd = std::move(cwd);
  request.session = caller.session;
  request.asked_by = caller.client;
  request.connection = caller.connection;
  request.role = gate_role(caller.role);
  request.command_id = command_id.empty() ? base::random_id('c') : std::move(command_id);
  if (request.role == engine::Role::Agent) {
    tighten_for_project(request);
    // What may be changed is said by the person, wherever in it the command begins.
    request.workspace = engine::root_of(config_.settings.policy.allowed_roots, request.cwd).value_or("");
  }
  return request;
}

// The mode on top of the laxest: a session's own is only ever made stricter.
void EngineApplication::tighten_for_project(engine::GateRequest& request) const {
  const std::string file = request.cwd.empty() ? "" : config::find_project_file(request.cwd);
  if (file.empty()) return;
  config::Loaded there;
  there.settings.policy = config_.settings.policy;
  there.settings.policy.mode = config::PolicyMode::Yolo;
  config::apply_file(there, file, config::FileLevel::Project, config::IfAbsent::Fine);
  request.mode = engine::mode_of(there.settings.policy.mode);
  request.ask_about_safe = !there.settings.policy.auto_approve_safe_commands;
  request.confirm_dangerous = there.settings.policy.confirm_dangerous_commands;
}

void EngineApplication::gated(const Caller& caller, engine::GateRequest request,
                              std::chrono::milliseconds yield_after, const Responder& responder,
                              const std::function<void(const std::string&)>& go) {
  terminal::CommandResult facts;
  facts.command_id = request.command_id;
  facts.terminal_id = request.terminal_id;
  facts.command = request.command;
  facts.cwd = request.cwd;
  facts.started_at_ms = engine::unix_ms();
  const std::string session = request.session;
  const auto refuse = [this, responder, session, task = request.task, by = row_owner(owner_of(caller))](
                          terminal::CommandResult refused, const GateDecision& decision) {
    refused.state =
        decision.kind == GateDecision::Kind::Skipped ? CommandState::Skipped : CommandState::Denied;
    refused.reason = decision.reason;
    refused.verdict_json = policy::to_json(decision.verdict);
    refused.approval = decision.approval_id;
    pending_[refused.command_id] = Pending{refused, decision.approval_id, session};
    pending_order_.push_back(refused.command_id);
    if (pending_order_.size() > kPendingKept) {
      pending_.erase(pending_order_.front());
      pending_order_.erase(pending_order_.begin());
    }
    store::CommandRow row = row_of(refused);
    row.task = task;
    row.owner = by;
    keep([row](store::Store& store) { static_cast<void>(store.put_command(row)); });
    responder.ok(result_object(refused));
  };
  const auto call = std::make_shared<uint64_t>(0);  // while the question is open
  const GateDecision decision = gate_->ask(
      std::move(request), [this, alive = alive_, facts, go, refuse, call](const GateDecision& came) {
        if (!*alive) return;
        end_call(*call);
        if (came.kind == GateDecision::Kind::Allowed) {
          pending_.erase(facts.command_id);
          go(policy::to_json(came.verdict));
        } else {
          refuse(facts, came);
        }
        const auto waiters = approval_waiters_.extract(came.approval_id);
        if (!waiters.empty()) {
          for (const auto& waiter : waiters.mapped()) waiter();
        }
      });
  if (decision.kind == GateDecision::Kind::Allowed) return go(policy::to_json(decision.verdict));
  if (decision.kind != GateDecision::Kind::Pending) return refuse(facts, decision);

  facts.state = CommandState::PendingApproval;
  facts.reason = decision.reason;
  facts.verdict_json = policy::to_json(decision.verdict);
  facts.approval = decision.approval_id;
  pending_[facts.command_id] = Pending{facts, decision.approval_id, session};
  *call = add_call(caller, responder);
  if (yield_after.count() > 0) {
    open_call(*call)->timer =
        loop_->after(yield_after, [this, id = facts.command_id, responder, key = *call] {
          const auto found = pending_.find(id);
          if (found != pending_.end()) responder.ok(result_object(found->second.facts));
          if (OpenCall* open = open_call(key)) open->timer = 0;
          end_call(key);
        });
  }
}

}  // namespace ttyward::daemon
