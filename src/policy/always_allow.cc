#include "policy/always_allow.h"

namespace ttyward::policy {
namespace {

// The folder a written path is in stands for what was meant: build/a.o today, build/b.o tomorrow.
std::string folder_pattern(const std::string& path) {
  const size_t slash = path.rfind('/');
  return slash == std::string::npos || slash == 0 ? path : path.substr(0, slash) + "/**";
}

bool same_meaning(const Rule& a, const Rule& b) {
  return a.program == b.program && a.subcommand == b.subcommand && a.effect == b.effect && a.path == b.path &&
         a.up_to == b.up_to;
}

}  // namespace

std::vector<Rule> rules_for_always(const Facts& facts, RuleLevel level) {
  std::vector<Rule> rules;
  if (!facts.findings.empty() || !facts.understood || level == RuleLevel::Project) return rules;
  for (const CommandFact& fact : facts.commands) {
    for (const Finding& finding : fact.findings) {
      // Critical things are asked about every time.
      if (finding.decision == Decision::Deny || finding.risk == Risk::Critical) return {};
      // What the program is has to be certain.
      const bool redirection = fact.program.empty() && finding.effect == EffectKind::Write;
      if (fact.program.empty() && !redirection) return {};
      Rule rule;
      rule.level = level;
      rule.decision = Decision::Allow;
      rule.program = fact.program;
      rule.subcommand = fact.subcommand;
      rule.has_effect = true;
      rule.effect = finding.effect;
      rule.up_to = finding.risk;
      const bool on_path = finding.effect == EffectKind::Write || finding.effect == EffectKind::Delete;
      if (on_path && finding.target.starts_with("/") && finding.target.find("…") == std::string::npos) {
        rule.path = finding.plain_write ? folder_pattern(finding.target) : finding.target;
      } else if (redirection) {
        return {};
      }
      rule.name = "always: " + (fact.program.empty() ? "redirection" : fact.program) +
                  (fact.subcommand.empty() ? "" : " " + fact.subcommand) + " may " +
                  std::string(name_of(finding.effect)) + (rule.path.empty() ? "" : " " + rule.path);
      bool known = false;
      for (const Rule& other : rules) known |= same_meaning(other, rule);
      if (!known) rules.push_back(std::move(rule));
    }
  }
  return rules;
}

}  // namespace ttyward::policy
