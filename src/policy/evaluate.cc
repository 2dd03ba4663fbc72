#include "policy/evaluate.h"

#include <algorithm>
#include <array>
#include <tuple>

namespace ttyward::policy {
namespace {

constexpr std::array<std::string_view, 4> kModes = {"plan", "default", "auto-edit", "yolo"};

bool changes_something(EffectKind kind) {
  return kind != EffectKind::Read && kind != EffectKind::List && kind != EffectKind::Secret;
}

class Evaluation {
 public:
  Evaluation(std::string_view command, const Facts& facts, const RuleSet& rules, const Settings& settings)
      : command_(command), facts_(facts), rules_(rules), settings_(settings) {}

  Verdict run() {
    verdict_.decision = Decision::Allow;
    verdict_.rule = "built-in: harmless";
    const RuleMatch exact = rules_.match_exact(command_);
    for (const Finding& finding : facts_.findings) {
      if (exact.decision == Decision::Allow && exact.matched && facts_.understood) {
        note_rule(exact.rule);
        continue;
      }
      take(finding, "built-in");
    }
    for (const CommandFact& fact : facts_.commands) judge(fact, exact);
    if (exact.matched && exact.decision != Decision::Allow)
      by_rule(exact, {0, static_cast<uint32_t>(command_.size())});
    finish();
    return std::move(verdict_);
  }

 private:
  void judge(const CommandFact& fact, const RuleMatch& exact) {
    std::string argv;
    for (const std::string& word : fact.argv) argv += (argv.empty() ? "" : " ") + word;
    if (!argv.empty()) verdict_.commands.push_back(std::move(argv));
    for (const Effect& effect : fact.effects) {
      if (std::find(verdict_.effects.begin(), verdict_.effects.end(), effect) == verdict_.effects.end()) {
        verdict_.effects.push_back(effect);
      }
    }
    const RuleMatch strict = rules_.match_strict(fact);
    if (strict.matched) by_rule(strict, fact.span);
    for (const Finding& finding : fact.findings) {
      if (finding.decision == Decision::Deny) {
        take(finding, "built-in");
        continue;
      }
      if (exact.matched && exact.decision == Decision::Allow) {
        note_rule(exact.rule);
        continue;
      }
      const RuleMatch allow = rules_.match_allow(fact, finding);
      if (allow.matched) {
        note_rule(allow.rule);
        continue;
      }
      take(finding, "built-in");
    }
  }

  // Mode first: it decides what an objection means.
  void take(const Finding& finding, std::string rule) {
    Decision decision = finding.decision;
    if (decision == Decision::Ask) {
      if (settings_.mode == Mode::Plan && changes_something(finding.effect)) {
        decision = Decision::Deny;
        rule = "mode plan";
      } else if (settings_.mode == Mode::Yolo) {
        verdict_.risk = std::max(verdict_.risk, finding.risk);
        if (verdict_.decision == Decision::Allow) verdict_.rule = "mode yolo";
        return;
      } else if (settings_.mode == Mode::AutoEdit && finding.plain_write) {
        verdict_.risk = std::max(verdict_.risk, Risk::Low);
        if (verdict_.decision == Decision::Allow) verdict_.rule = "mode auto-edit";
        return;
      } else if (!settings_.confirm_dangerous && finding.risk != Risk::Critical &&
                 (facts_.understood || !settings_.confirm_unclear)) {
        verdict_.risk = std::max(verdict_.risk, finding.risk);
        if (verdict_.decision == Decision::Allow) verdict_.rule = "setting confirm_dangerous = false";
        return;
      }
    }
    add(decision, finding.risk, finding.reason + (finding.target.empty() ? "" : ": " + finding.target),
        finding.span, rule);
  }

  void by_rule(const RuleMatch& match, Span span) {
    if (match.decision == Decision::Ask && settings_.mode == Mode::Yolo) return;
    add(match.decision, Risk::Medium, match.reason.empty() ? "a rule says so" : match.reason, span,
        match.rule);
  }

  void add(Decision decision, Risk risk, std::string text, Span span, const std::string& rule) {
    if (decision > verdict_.decision) {
      verdict_.decision = decision;
      verdict_.rule = rule;
    }
    verdict_.risk = std::max(verdict_.risk, risk);
    for (const Reason& known : verdict_.reasons) {
      if (known.text == text) return;
    }
    verdict_.reasons.push_back({std::move(text), span, risk, decision});
  }

  void note_rule(const std::string& rule) {
    if (verdict_.decision == Decision::Allow) verdict_.rule = rule;
  }

  void finish() {
    if (verdict_.decision == Decision::Allow && !settings_.auto_approve_safe &&
        settings_.mode != Mode::Yolo) {
      add(Decision::Ask, Risk::Low, "harmless, but nothing is to run unasked",
          {0, static_cast<uint32_t>(command_.size())}, "setting auto_approve_safe = false");
    }
    if (verdict_.decision != Decision::Allow) {
      verdict_.risk = std::max(verdict_.risk, facts_.least_risk);
      for (const Reason& trick : facts_.tricks) {
        bool known = false;
        for (const Reason& reason : verdict_.reasons) known |= reason.text == trick.text;
        if (!known) verdict_.reasons.push_back(trick);
      }
    }
    std::sort(verdict_.reasons.begin(), verdict_.reasons.end(), [](const Reason& a, const Reason& b) {
      if (a.decision != b.decision) return a.decision > b.decision;
      if (a.risk != b.risk) return a.risk > b.risk;
      return std::tie(a.span.begin, a.text) < std::tie(b.span.begin, b.text);
    });
  }

  std::string_view command_;
  const Facts& facts_;
  const RuleSet& rules_;
  const Settings& settings_;
  Verdict verdict_;
};

}  // namespace

std::string_view name_of(Mode mode) {
  return kModes[static_cast<size_t>(mode)];
}

bool parse_mode(std::string_view name, Mode& mode) {
  for (size_t i = 0; i < kModes.size(); ++i) {
    if (kModes[i] == name) {
      mode = static_cast<Mode>(i);
      return true;
    }
  }
  return false;
}

Verdict evaluate(std::string_view command, const Facts& facts, const RuleSet& rules,
                 const Settings& settings) {
  return Evaluation(command, facts, rules, settings).run();
}

Verdict check(std::string_view command, const Place& place, const RuleSet& rules, const Settings& settings) {
  return evaluate(command, read_command(command, place), rules, settings);
}

}  // namespace ttyward::policy
