// Answering: how a question ends, and what "always" leaves behind.
#include <fmt/format.h>

#include <algorithm>

#include "base/mask_secrets.h"
#include "base/unix_time.h"
#include "gate/gate.h"
#include "gate/rule_text.h"
#include "policy/escaped_view.h"
#include "policy/verdict_json.h"

namespace ttyward::gate {
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

Result<Approval> Gate::answer(const std::string& id, const Answerer& by, Answer answer,
                              const Remember& remember, const std::string& reason) {
  if (by.role != Role::Person)
    return fail(ErrorCode::PermissionDenied, "only a person may answer; wait for the answer");
  const auto at = open_.find(id);
  if (at == open_.end()) {
    const Approval* known = find(id);
    if (known == nullptr) return fail(ErrorCode::NotFound, "there is no question " + id);
    return fail(ErrorCode::AlreadyExists,
                fmt::format("question {} is closed: {}", id, gate::name_of(known->state)));
  }
  Open& question = at->second;
  if (question.request.connection == by.connection) {
    return fail(ErrorCode::PermissionDenied,
                "the connection that asked cannot answer; use another one, such as `ttyward approvals`");
  }
  const std::string name = by.name.empty() ? "person" : by.name;
  if (answer == Answer::Deny || answer == Answer::Skip) {
    if (remember.scope != Always::No)
      return fail(ErrorCode::InvalidArgument, "'always' needs the decision 'allow'");
    const bool skip = answer == Answer::Skip;
    return close(at, skip ? ApprovalState::Skipped : ApprovalState::Denied, name, reason,
                 skip ? Kind::Skipped : Kind::Denied,
                 with_words(skip ? "a person skipped it, so it was not run; continue without it"
                                 : "a person refused it; do something else, or ask the person what to do",
                            reason));
  }
  // Before anything is stored: an approval counts only for the exact command that was shown.
  if (const std::string changed = what_changed(question); !changed.empty()) {
    return close(at, ApprovalState::Denied, name, changed, Kind::Denied,
                 "it was approved, but " + changed + "; ask again");
  }
  if (remember.scope != Always::No) {
    if (auto stored = store_always(question, remember, name); !stored) return tl::unexpected(stored.error());
  }
  return close(at, ApprovalState::Allowed, name, reason, Kind::Allowed,
               with_words("a person allowed it", reason));
}

std::string Gate::what_changed(const Open& question) {
  const auto now = judge_request(question.request);
  if (!now) return now.error().message;
  if (now->verdict.decision == policy::Decision::Deny)
    return "policy refuses it now: " + policy::summary_of(now->verdict);
  if (now->verdict.decision == policy::Decision::Allow) return {};
  for (size_t i = 0; i < now->scripts.size(); ++i) {
    if (i >= question.scripts.size() || now->scripts[i] != question.scripts[i])
      return "the content of " + policy::escape_text(now->scripts[i].first) +
             " changed after the question was asked";
  }
  const std::vector<policy::Reason>& shown = question.approval.verdict.reasons;
  for (const policy::Reason& reason : now->verdict.reasons) {
    const bool known = std::any_of(shown.begin(), shown.end(), [&](const policy::Reason& other) {
      return other.text == reason.text && other.risk >= reason.risk;
    });
    if (!known) return "it would do something else now: " + policy::escape_text(reason.text);
  }
  return {};
}

Result<std::vector<std::string>> Gate::rules_to_store(const Open& question, const Remember& remember) {
  const Approval& approval = question.approval;
  if (approval.always.texts.empty()) {
    return fail(ErrorCode::InvalidArgument,
                "no rule can allow this: policy refuses or does not understand it, or its effect depends on "
                "more than its text; allow it once");
  }
  if (approval.session_only && remember.scope == Always::Global) {
    return fail(
        ErrorCode::InvalidArgument,
        "this is critical and can be allowed for a session at most; use --scope session, or allow it once");
  }
  if (remember.rules.empty()) {
    if (!remember.wider) return approval.always.texts;
    if (!approval.wider.texts.empty()) return approval.wider.texts;
    return fail(ErrorCode::InvalidArgument,
                "there is no wider rule for this; leave --wider out, or use --edit to write your own");
  }
  const auto level =
      remember.scope == Always::Global ? policy::RuleLevel::Global : policy::RuleLevel::Session;
  auto rules = policy::parse_rules(remember.rules, level, "your rules", question.request.cwd);
  if (!rules) return tl::unexpected(rules.error());
  if (rules->empty()) return fail(ErrorCode::InvalidArgument, "your rules contain no [[rule]]");
  auto judged = judge_request(question.request, *rules);
  if (!judged) return tl::unexpected(judged.error());
  if (judged->verdict.decision != policy::Decision::Allow) {
    return fail(ErrorCode::InvalidArgument,
                "your rules do not allow this command: it " + policy::summary_of(judged->verdict));
  }
  std::vector<std::string> texts;
  texts.reserve(rules->size());
  for (const policy::Rule& rule : *rules) texts.push_back(policy::to_toml(rule));
  return texts;
}

Result<void> Gate::store_always(const Open& question, const Remember& remember, const std::string& by) {
  const auto texts = rules_to_store(question, remember);
  if (!texts) return tl::unexpected(texts.error());
  if (remember.scope == Always::Global) {
    auto confirmed = confirm_change(
        [&](const std::string& text) { return with_rules(text, *texts, book_.own_file()); }, by);
    if (!confirmed) return confirmed;
    return append_rules(book_.own_file(), *texts);
  }
  const std::string& session = question.approval.session;
  if (session.empty())
    return fail(ErrorCode::InvalidArgument, "the question belongs to no session; the scope has to be global");
  for (const std::string& text : *texts) {
    if (auto added = sessions_.add(session, text); !added) return added;
    audit_.session_rule_added(session, text, by);
  }
  return {};
}

Result<Approval> Gate::withdraw(const std::string& id, uint64_t connection) {
  const auto at = open_.find(id);
  if (at == open_.end()) return fail(ErrorCode::NotFound, "there is no open question " + id);
  if (at->second.request.connection != connection)
    return fail(ErrorCode::PermissionDenied,
                "only the client that asked can withdraw a question; deny it instead");
  return close(at, ApprovalState::Withdrawn, "", "withdrawn by the client that asked", Kind::Denied,
               "the question was withdrawn, so the command was not run");
}

void Gate::connection_closed(uint64_t connection) {
  std::vector<std::string> ids;
  for (const auto& [id, question] : open_) {
    if (question.request.connection == connection && !question.kept) ids.push_back(id);
  }
  for (const std::string& id : ids) {
    const auto at = open_.find(id);
    if (at == open_.end()) continue;  // a callback of another one ended it
    close(at, ApprovalState::Withdrawn, "", "the client that asked disconnected", Kind::Denied,
          "the client that asked disconnected, so the command was not run");
  }
}

void Gate::keep(const std::string& id) {
  if (const auto at = open_.find(id); at != open_.end()) at->second.kept = true;
}

void Gate::expire(const std::string& id) {
  const auto at = open_.find(id);
  if (at == open_.end()) return;
  at->second.expiry = 0;
  const auto seconds = std::chrono::duration_cast<std::chrono::seconds>(settings_.approval_expiry).count();
  close(at, ApprovalState::Expired, "", fmt::format("nobody answered within {} s", seconds), Kind::Denied,
        fmt::format("nobody answered within {} s, so it was not run; if you ask again, a person can answer "
                    "with `ttyward approvals`",
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
  if (!by.empty()) approval.answered_at_ms = base::unix_ms();
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

Result<void> Gate::confirm_change(const std::function<Result<std::string>(const std::string&)>& change,
                                  const std::string& by) {
  if (confirmations_ == nullptr) return {};
  ConfirmedPolicy policy = confirmations_->confirmed();
  auto changed = change(policy.rules);
  // A copy that is no rule file confirms nothing; what is added now does.
  if (!changed) changed = change("");
  if (!changed) return tl::unexpected(changed.error());
  policy.rules = std::move(*changed);
  return confirmations_->store(std::move(policy), by);
}

Result<size_t> Gate::remove_rule(const std::string& session, const std::string& name, const Answerer& by) {
  if (by.role != Role::Person) return fail(ErrorCode::PermissionDenied, "only a person may change rules");
  if (session.empty()) {
    auto removed = remove_rules(book_.own_file(), name);
    if (!removed) return removed;
    auto confirmed = confirm_change(
        [&](const std::string& text) -> Result<std::string> {
          auto without = without_rules(text, name, book_.own_file());
          if (!without) return tl::unexpected(without.error());
          return std::move(without->text);
        },
        by.name);
    if (!confirmed) return tl::unexpected(confirmed.error());
    return removed;
  }
  const std::vector<std::string> texts = sessions_.remove(session, name);
  for (const std::string& text : texts) audit_.session_rule_removed(session, text);
  return texts.size();
}

Result<std::vector<std::string>> Gate::add_rules(const std::string& text, const std::string& replaces,
                                                 const Answerer& by) {
  if (by.role != Role::Person) return fail(ErrorCode::PermissionDenied, "only a person may change rules");
  auto rules = policy::parse_rules(text, policy::RuleLevel::Global, "your rule", "/nowhere");
  if (!rules) return tl::unexpected(rules.error());
  if (rules->empty()) return fail(ErrorCode::InvalidArgument, "there is no [[rule]] in it");
  const std::string& file = book_.own_file();
  const RulesAt& now = book_.files().at("/");
  std::vector<std::string> names;
  for (const policy::Rule& rule : *rules) {
    const bool taken = std::any_of(now.rules.begin(), now.rules.end(), [&](const policy::Rule& other) {
      return other.level == policy::RuleLevel::Global && other.name == rule.name;
    });
    if (taken && rule.name != replaces) {
      return fail(ErrorCode::AlreadyExists,
                  fmt::format("there is a rule '{}' already; give this one another name", rule.name));
    }
    names.push_back(rule.name);
  }
  const auto change = [&](const std::string& old) -> Result<std::string> {
    std::string kept = old;
    if (!replaces.empty()) {
      auto without = without_rules(old, replaces, file);
      if (!without) return tl::unexpected(without.error());
      kept = std::move(without->text);
    }
    return with_rules(std::move(kept), {text}, file);
  };
  auto before = read_rule_file(file);
  if (!before) return tl::unexpected(before.error());
  if (auto tried = change(*before); !tried) return tl::unexpected(tried.error());
  if (auto confirmed = confirm_change(change, by.name); !confirmed) return tl::unexpected(confirmed.error());
  if (!replaces.empty()) {
    if (auto removed = remove_rules(file, replaces); !removed) return tl::unexpected(removed.error());
  }
  if (auto added = append_rules(file, {text}); !added) return tl::unexpected(added.error());
  return names;
}

Result<void> Gate::restore_session_rule(const std::string& session, const std::string& text) {
  return sessions_.add(session, text);
}

}  // namespace ttyward::gate
