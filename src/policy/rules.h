// Rules that people write: allow, ask or deny by program and arguments, by
// effect and path, by regular expression, or by the exact command.
//
// Deny comes before ask before allow. A rule that allows takes away objections
// to the commands it matches, one by one; it never takes away a built-in
// refusal, and an objection graver than `up_to` stays.
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "policy/facts.h"

namespace re2 {
class RE2;
}

namespace ttyward::policy {

enum class RuleLevel : uint8_t { Global, Project, Session };

struct Rule {
  std::string name;
  RuleLevel level = RuleLevel::Global;
  Decision decision = Decision::Ask;
  std::string program;                 // "git"
  std::string subcommand;              // "push"
  std::vector<std::string> arguments;  // each has to match some argument; * and ? are wildcards
  bool has_effect = false;
  EffectKind effect = EffectKind::Unknown;
  std::string path;                       // pattern on the effect's target; ** crosses folders
  std::string pattern;                    // the regular expression's own text
  std::shared_ptr<const re2::RE2> regex;  // on the command's words, joined by blanks
  std::string command;                    // the whole line, byte by byte
  Risk up_to = Risk::High;
  std::string reason;
  std::vector<std::string> matches;  // examples
  std::vector<std::string> not_matches;
  int line = 0;
};

struct RuleMatch {
  bool matched = false;
  Decision decision = Decision::Allow;
  std::string rule;
  std::string reason;
};

class RuleSet {
 public:
  void add(Rule rule) { rules_.push_back(std::move(rule)); }
  const std::vector<Rule>& rules() const { return rules_; }

  // The strictest deny or ask rule that matches the command.
  RuleMatch match_strict(const CommandFact& fact) const;
  // A rule that allows what `finding` objects to.
  RuleMatch match_allow(const CommandFact& fact, const Finding& finding) const;
  // The strictest rule about exactly this line.
  RuleMatch match_exact(std::string_view command) const;

 private:
  std::vector<Rule> rules_;
};

// Everything but effect and path.
bool matches_command(const Rule& rule, const CommandFact& fact);
bool matches_wildcards(std::string_view pattern, std::string_view text);

// Reads a rule file. Errors name the line and column. `root` is what relative paths in rules are under.
base::Result<std::vector<Rule>> parse_rules(std::string_view toml, RuleLevel level,
                                            const std::string& file_name, const std::string& root);
// A rule as the text of a rule file.
std::string to_toml(const Rule& rule);

}  // namespace ttyward::policy
