#include "gate/rule_book.h"

#include <fmt/format.h>

#include <algorithm>

#include "gate/allowed_roots.h"
#include "gate/typed_to.h"
#include "policy/escaped_view.h"

namespace ttyward::gate {

using policy::Decision;

Judgement RuleBook::judge_by(const Case& what, const policy::RuleSet& rules) const {
  const bool agent = what.role != Role::Person;
  Action action = what.action;
  JudgeSettings own = settings_;
  if (what.ask_about_safe) own.agent.auto_approve_safe = false;
  if (what.confirm_dangerous) own.agent.confirm_dangerous = true;
  if (what.allowed_roots) own.allowed_roots = *what.allowed_roots;
  // The person says what may be changed, wherever in it the command begins.
  if (agent && action.workspace.empty())
    action.workspace = root_of(own.allowed_roots, action.cwd).value_or(std::string());
  Judgement out = gate::judge(action, what.role, what.mode, own, rules);
  std::string outside = agent ? outside_roots(own.allowed_roots, action.cwd) : std::string();
  if (!outside.empty()) {
    out.verdict.decision = Decision::Deny;
    out.verdict.rule = "setting allowed_roots";
    out.verdict.reasons.insert(out.verdict.reasons.begin(),
                               {std::move(outside), {}, policy::Risk::Medium, Decision::Deny});
  }
  return out;
}

base::Result<Judgement> RuleBook::judge(const Case& what) {
  policy::RuleSet set;
  for (const policy::Rule& rule : what.more) set.add(rule);
  const RulesAt& files = files_.at(what.action.cwd);
  std::string mistake;
  if (files.errors.empty()) {
    for (const policy::Rule& rule : files.rules) set.add(rule);
  } else if (what.role != Role::Person) {
    return base::fail(base::ErrorCode::InvalidArgument,
                      fmt::format("a rule file has an error, so nothing may run until it is fixed: {}",
                                  policy::escape_text(files.errors.front())));
  } else {
    mistake = files.errors.front();
  }
  Judgement out = judge_by(what, set);
  out.mistake = std::move(mistake);
  if (out.verdict.decision != Decision::Ask) return out;
  if (!files.unconfirmed.empty()) {
    for (const UnconfirmedRule& each : files.unconfirmed) {
      if (each.change == UnconfirmedRule::Change::Added) set.add(each.rule);
    }
    if (judge_by(what, set).verdict.decision == Decision::Allow) {
      out.note =
          "a rule that would allow it was added without ttyward and has no effect until a person confirms it "
          "with `ttyward rules confirm`";
      out.verdict.hints.insert(out.verdict.hints.begin(), out.note);
    }
  }
  const auto& commands = out.verdict.commands;
  if (std::any_of(commands.begin(), commands.end(), starts_interactive)) {
    out.verdict.reasons.push_back(
        {"accepts input later without asking again", {}, policy::Risk::Low, Decision::Ask});
  }
  return out;
}

Judgement RuleBook::judge_without_rules(const Case& what) const {
  return judge_by(what, policy::RuleSet());
}

policy::Verdict refused_for_mistake(const base::Error& error) {
  policy::Verdict verdict;
  verdict.decision = Decision::Deny;
  verdict.rule = "rule files";
  verdict.reasons.push_back({error.message, {}, policy::Risk::Low, Decision::Deny});
  return verdict;
}

}  // namespace ttyward::gate
