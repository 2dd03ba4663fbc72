// Asking: policy's word at once, or a question.
#include "gate/gate.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/hex.h"
#include "base/ids.h"
#include "base/mask_secrets.h"
#include "base/sha256.h"
#include "base/unix_time.h"
#include "gate/typed_to.h"
#include "policy/escaped_view.h"
#include "policy/rule_words.h"
#include "policy/verdict_json.h"

namespace ttyward::gate {
namespace {

using base::ErrorCode;
using base::fail;
using base::Result;
using Kind = GateDecision::Kind;

constexpr size_t kAuditedEffects = 20;

std::string effects_of(const policy::Verdict& verdict) {
  std::string out;
  for (size_t i = 0; i < std::min(verdict.effects.size(), kAuditedEffects); ++i) {
    const policy::Effect& effect = verdict.effects[i];
    out += (out.empty() ? "" : ", ") + std::string(policy::name_of(effect.kind)) +
           (effect.target.empty() ? "" : " " + effect.target);
  }
  if (verdict.effects.size() > kAuditedEffects) {
    out += fmt::format(", and {} more", verdict.effects.size() - kAuditedEffects);
  }
  return out;
}

// The rules "always" would store, each with the command as its example: a file that no longer means what it
// meant is noticed when it is read.
OfferedRules shown_rules(const std::vector<policy::Rule>& rules, const std::string& command) {
  OfferedRules out;
  for (const policy::Rule& rule : rules) {
    policy::Rule with = rule;
    // An example must not put a secret into a file.
    if (rule.command.empty() && base::mask_secrets(command) == command) with.matches = {command};
    std::string text = policy::to_toml(with);
    if (!policy::parse_rules(text, policy::RuleLevel::Session, "always", "/nowhere")) {
      text = policy::to_toml(rule);
      // A name that is no text cannot be written down: then there is no rule to offer.
      if (!policy::parse_rules(text, policy::RuleLevel::Session, "always", "/nowhere")) return {};
    }
    out.texts.push_back(std::move(text));
    out.words.push_back(policy::in_words(rule));
  }
  return out;
}

// The hash tells apart what the cut leaves out.
std::string shown_input(const std::string& input) {
  const bool cut_line = !input.empty() && !input.ends_with('\n');
  const auto lines = std::count(input.begin(), input.end(), '\n') + (cut_line ? 1 : 0);
  const std::string hash = base::to_hex(base::sha256(input)).substr(0, 16);
  return fmt::format("[its standard input: {} bytes, {} line{}, SHA-256 {}…]\n{}", input.size(), lines,
                     lines == 1 ? "" : "s", hash, policy::show_command(input));
}

}  // namespace

bool same_action(const GateRequest& asked, const GateRequest& now) {
  const bool same_input =
      (asked.input == nullptr) == (now.input == nullptr) && (!asked.input || *asked.input == *now.input);
  return asked.command == now.command && asked.cwd == now.cwd &&
         asked.environment_changes == now.environment_changes && asked.terminal_id == now.terminal_id &&
         asked.session == now.session && asked.typed_to == now.typed_to && asked.language == now.language &&
         asked.workspace == now.workspace && same_input;
}

Gate::Gate(io::Loop& loop, GateSettings settings, AuditSink& audit, Confirmations* confirmations)
    : loop_(loop),
      settings_(std::move(settings)),
      audit_(audit),
      confirmations_(confirmations),
      book_(settings_.judge, settings_.rules_file, confirmations) {}

Gate::~Gate() {
  observer_ = nullptr;
  while (!open_.empty()) {
    open_.begin()->second.later = nullptr;
    close(open_.begin(), ApprovalState::Withdrawn, "", "ttyward ended before anybody answered", Kind::Denied,
          "");
  }
}

policy::Mode Gate::mode_of(const GateRequest& request) const {
  if (request.role == Role::Person) return request.mode.value_or(policy::Mode::Default);
  const policy::Mode own = mode(request.session);
  return std::min(own, request.mode.value_or(own));  // modes are ordered from strict to lax
}

Result<Judgement> Gate::judge_request(const GateRequest& request, const std::vector<policy::Rule>& more) {
  if (!request.typed_to.empty()) return judge_typed(request.typed_to, mode_of(request));
  Case what;
  what.action = {request.command,  request.cwd,   request.workspace,  request.environment_changes,
                 request.language, request.shell, request.confinable, request.input.get()};
  what.role = request.role;
  what.mode = mode_of(request);
  what.ask_about_safe = request.ask_about_safe;
  what.confirm_dangerous = request.confirm_dangerous;
  what.allowed_roots = request.allowed_roots;
  what.more = more;
  for (const SessionRule& rule : sessions_.of(request.session)) what.more.push_back(rule.rule);
  auto judged = book_.judge(what);
  look_for_unconfirmed(book_.files().at(request.cwd));
  return judged;
}

void Gate::look_for_unconfirmed(const RulesAt& files) {
  std::string notice;
  if (confirmations_ != nullptr && confirmations_->standing() == Confirmations::Standing::Broken) {
    notice = fmt::format(
        "the record of confirmed rules is damaged ({}), so no rule or setting that loosens policy is in "
        "effect; review them with: ttyward rules confirm",
        confirmations_->problem());
  } else if (!files.unconfirmed.empty()) {
    const size_t count = files.unconfirmed.size();
    notice = fmt::format(
        "{} was changed without ttyward: {} that loosen{} policy {} not take effect; review {} with: ttyward "
        "rules confirm",
        book_.own_file(), count == 1 ? "one change" : fmt::format("{} changes", count), count == 1 ? "s" : "",
        count == 1 ? "does" : "do", count == 1 ? "it" : "them");
  }
  if (notice == notice_) return;
  notice_ = std::move(notice);
  if (observer_ != nullptr) observer_->on_unconfirmed_changed(notice_);
}

std::string Gate::unconfirmed_notice() {
  look_for_unconfirmed(book_.files().at("/"));
  return notice_;
}

void Gate::set_settings(GateSettings settings) {
  settings.rules_file = settings_.rules_file;
  settings_ = std::move(settings);
  book_.set_settings(settings_.judge);
}

Result<policy::Verdict> Gate::check(const GateRequest& request) {
  auto judgement = judge_request(request);
  if (!judgement) return tl::unexpected(judgement.error());
  return std::move(judgement->verdict);
}

std::string Gate::refusal_to_ask(const GateRequest& request) const {
  if (settings_.asking == Asking::Never)
    return "it needs a person's approval, and this ttyward is configured not to ask";
  if (settings_.asking == Asking::WhenSomebodyIs && listeners_ == 0)
    return "it needs a person's approval, and no person is connected who could give it";
  // Nobody gets more of them by asking, leaving and coming again.
  const auto same = std::count_if(open_.begin(), open_.end(), [&](const auto& entry) {
    const Open& other = entry.second;
    return other.request.connection == request.connection ||
           (other.kept && other.request.role == request.role && other.request.session == request.session);
  });
  if (static_cast<size_t>(same) >= settings_.most_open_per_connection)
    return fmt::format(
        "it needs a person's approval, and {} of your questions are open already; wait for their answers",
        same);
  if (open_.size() >= settings_.most_open)
    return "it needs a person's approval, and too many questions are open already; wait for their answers";
  return {};
}

GateDecision Gate::ask(GateRequest request, Later later) {
  GateDecision decision;
  if (request.role == Role::Viewer) {
    decision.reason = "a viewer may not run anything";
    return decision;
  }
  auto judgement = judge_request(request);
  if (!judgement) {
    decision.verdict = refused_for_mistake(judgement.error());
    decision.reason = judgement.error().message;
  } else {
    decision.verdict = judgement->verdict;
    std::string cannot_ask;
    switch (judgement->verdict.decision) {
      case policy::Decision::Allow:
        decision.kind = Kind::Allowed;
        break;
      case policy::Decision::Deny:
        decision.reason =
            fmt::format("refused by policy ({}): {}", policy::escape_text(decision.verdict.rule),
                        policy::summary_of(decision.verdict));
        break;
      case policy::Decision::Ask:
        cannot_ask = refusal_to_ask(request);
        if (cannot_ask.empty()) return open(std::move(request), std::move(*judgement), std::move(later));
        decision.reason = cannot_ask + ". It " + policy::summary_of(decision.verdict) +
                          (judgement->note.empty() ? "" : "; " + judgement->note);
        break;
    }
  }
  AuditRow row = audit_row(request, decision.verdict);
  row.id = base::random_id('d');
  row.outcome = decision.kind == Kind::Allowed ? Outcome::Allowed : Outcome::Denied;
  row.decided_by = decision.verdict.rule;
  row.reason = base::mask_secrets(decision.reason);
  audit_.record(row);
  return decision;
}

GateDecision Gate::open(GateRequest request, Judgement judgement, Later later) {
  Open question;
  Approval& approval = question.approval;
  approval.id = base::random_id('a');
  approval.command = request.command;
  approval.shown = policy::show_command(request.command);
  if (request.input) approval.shown += "\n" + shown_input(*request.input);
  approval.cwd = request.cwd;
  approval.environment_changes = request.environment_changes;
  approval.command_id = request.command_id;
  approval.terminal_id = request.terminal_id;
  approval.task = request.task;
  approval.session = request.session;
  approval.asked_by = request.asked_by;
  approval.connection = request.connection;
  approval.verdict = std::move(judgement.verdict);
  approval.created_at_ms = base::unix_ms();
  const auto expiry = settings_.approval_expiry;
  if (expiry.count() > 0) approval.expires_at_ms = approval.created_at_ms + expiry.count();
  approval.always = shown_rules(judgement.always.rules, request.command);
  if (!approval.always.texts.empty()) approval.wider = shown_rules(judgement.always.wider, request.command);
  approval.session_only = judgement.always.session_only;
  question.scripts = std::move(judgement.scripts);

  AuditRow row = audit_row(request, approval.verdict);
  row.id = approval.id;
  row.decided_by = "nobody yet";
  row.reason = "waits for a person's answer";
  audit_.record(row);

  GateDecision decision;
  decision.kind = Kind::Pending;
  decision.verdict = approval.verdict;
  decision.approval_id = approval.id;
  decision.reason = fmt::format(
      "it waits for a person's answer (approval {}; `ttyward approvals` answers it) because it {}{}",
      approval.id, policy::summary_of(approval.verdict), judgement.note.empty() ? "" : "; " + judgement.note);

  question.request = std::move(request);
  question.later = std::move(later);
  question.order = ++opened_;
  if (expiry.count() > 0) question.expiry = loop_.after(expiry, [this, id = approval.id] { expire(id); });
  const Approval shown = approval;
  open_.emplace(shown.id, std::move(question));
  if (observer_ != nullptr) observer_->on_opened(shown);
  return decision;
}

AuditRow Gate::audit_row(const GateRequest& request, const policy::Verdict& verdict) const {
  AuditRow row;
  row.at_ms = base::unix_ms();
  row.action = request.action;
  row.command_id = request.command_id;
  row.terminal_id = request.terminal_id;
  row.task = request.task;
  row.session = request.session;
  row.asked_by = request.asked_by;
  row.command = base::mask_secrets(request.command);
  row.cwd = request.cwd;
  row.risk = policy::name_of(verdict.risk);
  row.effects = base::mask_secrets(effects_of(verdict));
  return row;
}

policy::Mode Gate::mode(const std::string& session) const {
  return sessions_.mode(session).value_or(settings_.judge.agent.mode);
}

Result<void> Gate::set_mode(const std::string& session, policy::Mode mode, Role role) {
  if (role != Role::Person)
    return fail(ErrorCode::PermissionDenied, "only a person may change a session's mode");
  if (session.empty())
    return fail(ErrorCode::InvalidArgument, "'session' is missing: a mode belongs to a session");
  sessions_.set_mode(session, mode);
  return {};
}

RuleList Gate::rules(const std::string& session, const std::string& cwd) {
  RuleList out;
  const RulesAt& files = book_.files().at(cwd);
  for (size_t i = 0; i < files.rules.size(); ++i) {
    out.rules.push_back({files.rules[i], policy::to_toml(files.rules[i]), files.sources[i]});
  }
  for (const SessionRule& rule : sessions_.of(session))
    out.rules.push_back({rule.rule, rule.text, "session"});
  out.errors = files.errors;
  out.unconfirmed = files.unconfirmed;
  return out;
}

}  // namespace ttyward::gate
