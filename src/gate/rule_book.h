// The rules that hold, applied to a command: the one place where rule files, a session's rules, the settings
// and the folders an agent may work in meet what is to run.
//
// Gate (in the daemon, for every call that runs or types something) and cli/local_policy (for verbs that run
// commands themselves) both judge here. They differ only in whom they ask.
//
// Reads rule files again when they changed. Thread rule: one thread at a time.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "gate/judge.h"
#include "gate/rule_files.h"

namespace ttyward::gate {

// What is judged, for whom, and what makes it stricter or laxer than usual.
struct Case {
  Action action;
  Role role = Role::Agent;
  policy::Mode mode = policy::Mode::Default;
  // What a project's settings make stricter.
  bool ask_about_safe = false;
  bool confirm_dangerous = false;
  std::optional<std::vector<std::string>> allowed_roots{};
  std::vector<policy::Rule> more{};  // of the session, or as if they held already
};

class RuleBook {
 public:
  // `own_file`: the person's rules.toml. Without `confirmations` all of it counts.
  RuleBook(JudgeSettings settings, std::string own_file, const Confirmations* confirmations)
      : settings_(std::move(settings)), files_(std::move(own_file), confirmations) {}

  void set_settings(JudgeSettings settings) { settings_ = std::move(settings); }
  const JudgeSettings& settings() const { return settings_; }
  RuleFiles& files() { return files_; }
  const std::string& own_file() const { return files_.own_file(); }

  // Fails for an agent if a rule file has a mistake in it: a rule that denies may be behind it. A person's
  // command is judged without the files then, and Judgement::mistake says so.
  base::Result<Judgement> judge(const Case& what);
  // As if there were no rules.
  Judgement judge_without_rules(const Case& what) const;

 private:
  Judgement judge_by(const Case& what, const policy::RuleSet& rules) const;

  JudgeSettings settings_;
  RuleFiles files_;
};

// The verdict on what cannot be judged, since judge() failed with `error`.
policy::Verdict refused_for_mistake(const base::Error& error);

}  // namespace ttyward::gate
