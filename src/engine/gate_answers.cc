// Answering: how a question ends, and what "always" leaves behind.
#include <fmt/format.h>

#include <algorithm>

#include "base/mask_secrets.h"
#include "engine/gate.h"
#include "engine/gate_rule_file.h"
#include "engine/time.h"
#include "policy/escaped_view.h"
#include "policy/verdict_json.h"

namespace ttyward::engine {
namespace {

using base::ErrorCode;
using base::fail;
using base::Result;
using Kind = GateDecision::Kind;

Outcome outcome_of(ApprovalState state) {
  switch (state) {
    case ApprovalState::Allowed:
      return Outcome::AskAllowed;
    case ApprovalState::Skipped:
      return Outcome::Skipped;
    case ApprovalState::Expired:
      return Outcome::Expired;
    case ApprovalState::Withdrawn:
      return Outcome::Withdrawn;
    case ApprovalState::Open:
    case ApprovalState::Denied:
      break;
  }
  return Outcome::Denied;
}

std::string decided_by(ApprovalState state, const std::string& answered_by) {
  if (!answered_by.empty()) return "person";
  return state == ApprovalState::Expired ? "expiry" : "withdrawal";
}

std::string with_words(const std::string& text, const std::string& reason) {
  return reason.empty() ? text : text + ": " + policy::escape_text(reason);
}

}  // namespace

const Approval* Gate::find(const std::string& id) const {
  if (const auto open = open_.find(id); open != open_.end()) return &open->second.approval;
  const auto closed = std::find_if(closed_.begin(), closed_.end(),
                                   [&](const Approval& approval) { return approval.id == id; });
  return closed == closed_.end() ? nullptr : &*closed;
}

std::vector<Approval> Gate::list(bool all) const {
  std::vector<Approval> out;
  if (all) out = closed_;
  std::vector<const Open*> open;
  open.reserve(open_.size());
  for (const auto& [id, question] : open_) open.push_back(&question);
  std::sort(open.begin(), open.end(), [](const Open* a, const Open* b) { return a->order < b->order; });
  for (const Open* question : open) out.push_back(question->approval);
  return out;
}

Result<Approval> Gate::answer(const std::string& id, const Answerer& by, Answer answer, Always always,
                              const std::string& reason) {
  if (by.role != Role::Person)
    return fail(ErrorCode::PermissionDenied, "only a person may answer; an agent waits for the answer");
  const auto at = open_.find(id);
  if (at == open_.end()) {
    const Approval* known = find(id);
    if (known == nullptr) return fail(ErrorCode::NotFound, "there is no question " + id);
    return fail(ErrorCode::AlreadyExists,
                fmt::format("question {} is over: {}", id, engine::name_of(known->state)));
  }
  Open& question = at->second;
  if (question.request.connection == by.connection) {
    return fail(ErrorCode::PermissionDenied,
                "who asked cannot answer; use another connection, such as `ttyward approvals`");
  }
  const std::string name = by.name.empty() ? "person" : by.name;
  if (answer == Answer::Deny || answer == Answer::Skip) {
    if (always != Always::No)
      return fail(ErrorCode::InvalidArgument, "only an allowed command can be allowed always");
    const bool skip = answer == Answer::Skip;
    return close(at, skip ? ApprovalState::Skipped : ApprovalState::Denied, name, reason,
                 skip ? Kind::Skipped : Kind::Denied,
                 with_words(skip ? "a person skipped it: it was not run; go on without it"
                                 : "a person refused it; do something else, or ask what is wanted",
                            reason));
  }
  // Before anything is stored: a yes to what was not shown is no yes.
  if (const std::string changed = what_changed(question); !changed.empty()) {
    return close(at, ApprovalState::Denied, name, changed, Kind::Denied,
                 "it was approved, but " + changed + "; ask again");
  }
  if (always != Always::No) {
    if (auto stored = store_always(question, always, name); !stored) return tl::unexpected(stored.error());
  }
  return close(at, ApprovalState::Allowed, name, reason, Kind::Allowed,
               with_words("a person allowed it", reason));
}

std::string Gate::what_changed(const Open& question) {
  const auto now = judge_request(question.request);
  if (!now) return now.error().message;
  if (now->verdict.decision == policy::Decision::Deny)
    return "policy refuses it by now: " + policy::summary_of(now->verdict);
  if (now->verdict.decision == policy::Decision::Allow) return {};
  const std::vector<policy::Reason>& shown = question.approval.verdict.reasons;
  for (const policy::Reason& reason : now->verdict.reasons) {
    const bool known = std::any_of(shown.begin(), shown.end(), [&](const policy::Reason& other) {
      return other.text == reason.text && other.risk >= reason.risk;
    });
    if (!known) return "it would do something else by now: " + policy::escape_text(reason.text);
  }
  return {};
}

Result<void> Gate::store_always(const Open& question, Always always, const std::string& by) {
  const Approval& approval = question.approval;
  if (approval.always.empty()) {
    return fail(ErrorCode::InvalidArgument,
                "this cannot be allowed always: it is critical, not understood, or depends on more than the "
                "command; allow it once");
  }
  if (always == Always::Global) return append_rules(files_.own_file(), approval.always);
  if (approval.session.empty())
    return fail(ErrorCode::InvalidArgument, "the question belongs to no session; the scope has to be global");
  for (const std::string& text : approval.always) {
    if (auto added = sessions_.add(approval.session, text); !added) return added;
    audit_.session_rule_added(approval.session, text, by);
  }
  return {};
}

Result<Approval> Gate::withdraw(const std::string& id, uint64_t connection) {
  const auto at = open_.find(id);
  if (at == open_.end()) return fail(ErrorCode::NotFound, "there is no open question " + id);
  if (at->second.request.connection != connection)
    return fail(ErrorCode::PermissionDenied, "only who asked can take a question back; deny it instead");
  return close(at, ApprovalState::Withdrawn, "", "taken back by who asked", Kind::Denied,
               "the question was taken back; it was not run");
}

void Gate::connection_closed(uint64_t connection) {
  std::vector<std::string> ids;
  for (const auto& [id, question] : open_) {
    if (question.request.connection == connection) ids.push_back(id);
  }
  for (const std::string& id : ids) {
    const auto at = open_.find(id);
    if (at == open_.end()) continue;  // a callback of another one ended it
    close(at, ApprovalState::Withdrawn, "", "who asked is gone", Kind::Denied,
          "who asked is gone; it was not run");
  }
}

void Gate::expire(const std::string& id) {
  const auto at = open_.find(id);
  if (at == open_.end()) return;
  at->second.expiry = 0;
  const auto seconds = std::chrono::duration_cast<std::chrono::seconds>(settings_.approval_expiry).count();
  close(at, ApprovalState::Expired, "", fmt::format("nobody answered within {} s", seconds), Kind::Denied,
        fmt::format("nobody answered within {} s, so it was not run; a person can answer with `ttyward "
                    "approvals` when you ask again",
                    seconds));
}

Approval Gate::close(std::map<std::string, Open>::iterator at, ApprovalState state, const std::string& by,
                     const std::string& reason, Kind kind, const std::string& told) {
  Open question = std::move(at->second);
  open_.erase(at);
  loop_.cancel(question.expiry);
  Approval& approval = question.approval;
  approval.state = state;
  approval.answered_by = by;
  approval.reason = reason;
  if (!by.empty()) approval.answered_at_ms = unix_ms();
  if (closed_.size() >= settings_.closed_kept && !closed_.empty()) closed_.erase(closed_.begin());
  if (settings_.closed_kept > 0) closed_.push_back(approval);

  AuditRow row = audit_row(question.request, approval.verdict);
  row.id = approval.id;
  row.at_ms = approval.created_at_ms;
  row.outcome = outcome_of(state);
  row.decided_by = decided_by(state, by);
  row.reason = base::mask_secrets(reason.empty() ? policy::summary_of(approval.verdict) : reason);
  row.answered_by = by;
  row.answered_at_ms = approval.answered_at_ms;
  audit_.record(row);

  GateDecision decision;
  decision.kind = kind;
  decision.verdict = approval.verdict;
  decision.reason = told;
  decision.approval_id = approval.id;
  if (observer_ != nullptr) observer_->on_closed(approval);
  if (question.later) question.later(decision);
  return approval;
}

Result<size_t> Gate::remove_rule(const std::string& session, const std::string& name, Role role) {
  if (role != Role::Person) return fail(ErrorCode::PermissionDenied, "only a person may change rules");
  if (session.empty()) return remove_rules(files_.own_file(), name);
  const std::vector<std::string> texts = sessions_.remove(session, name);
  for (const std::string& text : texts) audit_.session_rule_removed(session, text);
  return texts.size();
}

Result<void> Gate::restore_session_rule(const std::string& session, const std::string& text) {
  return sessions_.add(session, text);
}

}  // namespace ttyward::engine
