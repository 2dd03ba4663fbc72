#include "policy/rules.h"

#include <re2/re2.h>

namespace ttyward::policy {
namespace {

std::string joined(const std::vector<std::string>& words) {
  std::string text;
  for (const std::string& word : words) text += (text.empty() ? "" : " ") + word;
  return text;
}

bool matches_target(const Rule& rule, EffectKind kind, const std::string& target) {
  if (rule.has_effect && rule.effect != kind) return false;
  return rule.path.empty() || matches_wildcards(rule.path, target);
}

// The words a rule may rely on: an unknown one matches nothing.
bool is_certain(const CommandFact& fact) {
  for (const std::string& word : fact.argv) {
    if (word.find("…") != std::string::npos) return false;
  }
  return true;
}

}  // namespace

// * stays inside a path component, ** does not. Row by row, so that many stars cost no more than a few.
bool matches_wildcards(std::string_view pattern, std::string_view text) {
  std::vector<char> reached(text.size() + 1, 0);  // reached[i]: the pattern so far matches text[0, i)
  reached[0] = 1;
  for (size_t p = 0; p < pattern.size(); ++p) {
    const char c = pattern[p];
    if (c == '*') {
      const bool deep = pattern.substr(p).starts_with("**");
      if (deep) ++p;
      for (size_t i = 1; i <= text.size(); ++i) {
        if (reached[i - 1] != 0 && (deep || text[i - 1] != '/')) reached[i] = 1;
      }
      continue;
    }
    for (size_t i = text.size(); i > 0; --i)
      reached[i] = reached[i - 1] != 0 && (c == '?' || c == text[i - 1]) ? 1 : 0;
    reached[0] = 0;
  }
  return reached[text.size()] != 0;
}

bool matches_command(const Rule& rule, const CommandFact& fact) {
  if (!rule.command.empty()) return false;
  if (!rule.program.empty() && rule.program != fact.program) return false;
  if (!rule.subcommand.empty() && rule.subcommand != fact.subcommand) return false;
  for (const std::string& wanted : rule.arguments) {
    bool found = false;
    for (size_t i = 1; i < fact.argv.size() && !found; ++i) found = matches_wildcards(wanted, fact.argv[i]);
    if (!found) return false;
  }
  if (rule.regex) {
    const std::string text = joined(fact.argv);
    // To allow, the whole command has to match; to object, any part of it.
    if (rule.decision == Decision::Allow ? !re2::RE2::FullMatch(text, *rule.regex)
                                         : !re2::RE2::PartialMatch(text, *rule.regex)) {
      return false;
    }
    if (rule.decision == Decision::Allow && !is_certain(fact)) return false;
  }
  return true;
}

RuleMatch RuleSet::match_strict(const CommandFact& fact) const {
  RuleMatch best;
  for (const Rule& rule : rules_) {
    if (rule.decision == Decision::Allow || (best.matched && rule.decision <= best.decision) ||
        !matches_command(rule, fact))
      continue;
    if (rule.has_effect || !rule.path.empty()) {
      bool found = false;
      for (const Effect& effect : fact.effects) found |= matches_target(rule, effect.kind, effect.target);
      if (!found) continue;
    }
    best = {true, rule.decision, rule.name, rule.reason};
  }
  return best;
}

RuleMatch RuleSet::match_allow(const CommandFact& fact, const Finding& finding) const {
  for (const Rule& rule : rules_) {
    if (rule.decision != Decision::Allow || rule.level == RuleLevel::Project || finding.risk > rule.up_to)
      continue;
    if (!matches_command(rule, fact) || !matches_target(rule, finding.effect, finding.target)) continue;
    return {true, Decision::Allow, rule.name, rule.reason};
  }
  return {};
}

RuleMatch RuleSet::match_exact(std::string_view command) const {
  RuleMatch best;
  for (const Rule& rule : rules_) {
    if (rule.command.empty() || rule.command != command) continue;
    if (rule.decision == Decision::Allow && rule.level == RuleLevel::Project) continue;
    if (!best.matched || rule.decision > best.decision) best = {true, rule.decision, rule.name, rule.reason};
  }
  return best;
}

}  // namespace ttyward::policy
