// Whether what loosens policy was confirmed by a person.
#include <fmt/format.h>

#include "cli/current_folder.h"
#include "cli/daemon_call.h"
#include "cli/doctor/check.h"
#include "engine/confirmations.h"
#include "engine/gate_rules.h"
#include "policy/rule_words.h"

namespace ttyward::cli::doctor {

std::vector<Finding> check_policy(const Context& context) {
  std::vector<Finding> findings;
  const engine::Confirmations confirmations(context.folders.state);
  engine::GateRules files(context.folders.config + "/rules.toml", &confirmations);
  const engine::RulesAt& rules = files.at(current_folder());
  for (const std::string& error : rules.errors)
    findings.push_back({Level::Fail, error, "fix it; until then agents cannot run anything"});
  // A daemon that runs knows best, and knows how it was started.
  if (auto daemon = client::Connection::open(daemon_options("doctor"))) {
    for (const std::string& notice : daemon->welcome().notices)
      findings.push_back({Level::Warn, notice, "see: ttyward rules confirm, ttyward config show"});
  } else {
    if (confirmations.standing() == engine::Confirmations::Standing::Broken) {
      findings.push_back({Level::Warn,
                          confirmations.problem() + ": no rule or setting that loosens policy is in effect",
                          "review your rules with: ttyward rules confirm"});
    }
    for (const engine::UnconfirmedRule& each : rules.unconfirmed) {
      const bool added = each.change == engine::UnconfirmedRule::Change::Added;
      findings.push_back({Level::Warn,
                          fmt::format("rules.toml was changed without ttyward: '{}' {} ({})", each.rule.name,
                                      added ? "is not in effect" : "was removed and is still in effect",
                                      policy::in_words(each.rule)),
                          "review it with: ttyward rules confirm"});
    }
    const engine::ConfirmedConfig config =
        engine::load_confirmed(context.folders, "/", context.environment, confirmations);
    for (const engine::LoosenedSetting& each : config.unconfirmed) {
      findings.push_back({Level::Warn,
                          fmt::format("{} was changed without ttyward: {} = {} is not in effect", each.where,
                                      each.name, each.wanted),
                          "review it with: ttyward rules confirm"});
    }
    for (const engine::LoosenedSetting& each : config.from_environment)
      findings.push_back({Level::Warn, "the environment loosens policy: " + each.in_words(), ""});
  }
  if (findings.empty()) {
    const bool none = confirmations.standing() == engine::Confirmations::Standing::None;
    findings.push_back(
        {Level::Ok,
         none ? "nothing has been confirmed yet: the first daemon records the current rules and settings"
              : "all of them are confirmed",
         ""});
  }
  return findings;
}

}  // namespace ttyward::cli::doctor
