// Whether what loosens policy was confirmed by a person.
#include <fmt/format.h>

#include "cli/current_folder.h"
#include "cli/daemon_call.h"
#include "cli/doctor/check.h"
#include "gate/confirmations.h"
#include "gate/rule_files.h"
#include "policy/rule_words.h"

namespace ttyward::cli::doctor {

std::vector<Finding> check_policy(const Context& context) {
  std::vector<Finding> findings;
  const gate::Confirmations confirmations(context.folders.state);
  gate::RuleFiles files(context.folders.config + "/rules.toml", &confirmations);
  const gate::RulesAt& rules = files.at(current_folder());
  for (const std::string& error : rules.errors)
    findings.push_back({Level::Fail, error, "fix it; until then agents cannot run anything"});
  // A daemon that runs knows best, and knows how it was started.
  if (auto daemon = client::Connection::open(daemon_options("doctor"))) {
    for (const std::string& notice : daemon->welcome().notices)
      findings.push_back({Level::Warn, notice, "see: ttyward rules confirm, ttyward config show"});
  } else {
    if (confirmations.standing() == gate::Confirmations::Standing::Broken) {
      findings.push_back({Level::Warn,
                          confirmations.problem() + ": no rule or setting that loosens policy is in effect",
                          "review your rules with: ttyward rules confirm"});
    }
    for (const gate::UnconfirmedRule& each : rules.unconfirmed) {
      const bool added = each.change == gate::UnconfirmedRule::Change::Added;
      findings.push_back({Level::Warn,
                          fmt::format("rules.toml was changed without ttyward: '{}' {} ({})", each.rule.name,
                                      added ? "is not in effect" : "was removed and is still in effect",
                                      policy::in_words(each.rule)),
                          "review it with: ttyward rules confirm"});
    }
    const gate::ConfirmedConfig config =
        gate::load_confirmed(context.folders, "/", context.environment, confirmations);
    for (const gate::LoosenedSetting& each : config.unconfirmed) {
      findings.push_back({Level::Warn,
                          fmt::format("{} was changed without ttyward: {} = {} is not in effect", each.where,
                                      each.name, each.wanted),
                          "review it with: ttyward rules confirm"});
    }
    for (const gate::LoosenedSetting& each : config.from_environment)
      findings.push_back({Level::Warn, "the environment loosens policy: " + each.in_words(), ""});
  }
  if (findings.empty()) {
    const bool none = confirmations.standing() == gate::Confirmations::Standing::None;
    findings.push_back(
        {Level::Ok,
         none ? "nothing has been confirmed yet: the first daemon records the current rules and settings"
              : "all of them are confirmed",
         ""});
  }
  return findings;
}

}  // namespace ttyward::cli::doctor
