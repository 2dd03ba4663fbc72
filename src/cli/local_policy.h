// Policy for verbs that run commands without a daemon.
//
// A person at their own terminal is asked about critical things; an agent (by
// --as-agent, or TTYWARD_ROLE=agent in the environment) gets the whole policy, and
// what would be a question is a no. What is judged, and by which rules, is gate::RuleBook's, as in the
// daemon; here is who is asked.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include <CLI/App.hpp>

#include "base/result.h"
#include "gate/rule_book.h"

namespace ttyward::cli {

enum class PolicyLevel : uint8_t {
  Off,       // nothing is judged
  Critical,  // a person's usual: critical things are asked about, nothing is refused
  Default,   // all that policy objects to is asked about; refusals stand
  Strict,    // nobody is asked: what would be a question is a no
};

struct PolicyArguments {
  std::string level;
  std::string mode;  // empty: what is configured
  bool as_agent = false;
};
void declare_policy_options(CLI::App& app, PolicyArguments& args);

struct Judged {
  gate::Action action;
  policy::Verdict verdict;
};

struct Ruling {
  bool allowed = true;
  size_t culprit = 0;  // which of those judged must not run
  std::string reason;
};

class LocalPolicy {
 public:
  // `usual` is the level for a person who names none; `folder` is where the commands run, and whose
  // configuration holds: empty is this one. The error says what to write instead.
  static base::Result<LocalPolicy> make(const PolicyArguments& args, PolicyLevel usual, const char* verb,
                                        const std::string& folder);

  // As it is for agents, in `cwd`: what `check` and `rules test` tell. `mode` may be empty: what is
  // configured.
  static base::Result<LocalPolicy> for_check(const std::string& mode, const std::string& cwd,
                                             const char* verb);

  PolicyLevel level() const { return level_; }
  Judged judge(gate::Action action);
  // The same as if there were no rules.
  Judged judge_without_rules(gate::Action action) const;
  // Rules that hold in the folder, and what is wrong with the files.
  const gate::RulesAt& rules_at(const std::string& folder) { return book_.files().at(folder); }
  // An agent's command that can be confined is judged as one that will be, if the verdict says so.
  void consider_sandbox(gate::Action& action) const;
  // All or nothing: one question about everything that needs one.
  Ruling settle(const std::vector<Judged>& judged) const;

 private:
  LocalPolicy(PolicyLevel level, policy::Mode mode, const char* verb);
  void apply_configuration(const std::string& cwd, bool agent, bool mode_too);
  gate::Case case_of(gate::Action action) const;

  PolicyLevel level_;
  policy::Mode mode_;
  const char* verb_;
  bool for_agent_ = false;
  std::unique_ptr<gate::Confirmations> confirmations_;
  gate::RuleBook book_;
};

// Of the shell named by --shell; bash if none is.
gate::Language language_of(const std::string& shell);

// The verdict as JSON for a result; empty if nothing was judged.
std::string verdict_json(const LocalPolicy& policy, const Judged& judged);

}  // namespace ttyward::cli
