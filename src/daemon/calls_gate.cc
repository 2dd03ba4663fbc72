// May it run, and where: every command of every call passes here.
#include <algorithm>
#include <cstdlib>
#include <filesystem>

#include "base/ids.h"
#include "daemon/engine_application.h"
#include "daemon/objects.h"
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
  const std::vector<std::string>& roots = config_.settings.policy.allowed_roots;
  if (caller.role == Role::Person || roots.empty()) return false;
  const char* const home = std::getenv("HOME");
  const std::string asked = cwd.empty() ? (home != nullptr ? home : "/") : cwd;
  std::error_code wrong;
  // Links followed: what counts is where it would work.
  const std::filesystem::path real = std::filesystem::weakly_canonical(asked, wrong);
  std::string all;
  for (const std::string& root : roots) {
    const std::filesystem::path base = std::filesystem::weakly_canonical(root, wrong);
    const auto [end, rest] = std::mismatch(base.begin(), base.end(), real.begin(), real.end());
    if (end == base.end() || end->empty()) return false;
    all += (all.empty() ? "" : ", ") + root;
  }
  responder.fail({wire::Code::PermissionDenied,
                  asked + " is outside the folders agents may work in: give a cwd in " + all});
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
  if (request.role == engine::Role::Agent) request.mode = project_mode(request.cwd);
  return request;
}

// What a project's file says of the mode, on top of the laxest: a session's own is only ever made stricter.
std::optional<policy::Mode> EngineApplication::project_mode(const std::string& cwd) {
  const std::string file = cwd.empty() ? "" : config::find_project_file(cwd);
  if (file.empty()) return std::nullopt;
  config::Loaded there;
  there.settings.policy.mode = config::PolicyMode::Yolo;
  config::apply_file(there, file, config::FileLevel::Project, config::IfAbsent::Fine);
  return mode_of(there.settings.policy.mode);
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
