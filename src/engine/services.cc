#include "engine/services.h"

#include <cstdlib>
#include <filesystem>

#include "policy/file_view.h"
#include "policy/verdict_json.h"

namespace ttyward {
namespace {

std::string folder_or_ours(const std::string& cwd) {
  std::error_code failed;
  return cwd.empty() ? std::filesystem::current_path(failed).string() : cwd;
}

}  // namespace

terminal::CommandResult LocalTerminals::run(const std::string& command, const RunChoices& choices) {
  return ttyward::run(command, choices);
}

policy::Verdict PolicyPermissions::judge(const std::string& command, const std::string& cwd) {
  const policy::RealFiles files;
  const char* const home = std::getenv("HOME");
  policy::Place place;
  place.cwd = folder_or_ours(cwd);
  place.workspace = workspace_.empty() ? place.cwd : workspace_;
  place.home = home != nullptr ? home : "/";
  place.files = &files;
  return policy::check(command, place, rules_, settings_);
}

terminal::CommandResult NullTerminals::run(const std::string& command, const RunChoices& choices) {
  terminal::CommandResult result;
  result.command = command;
  result.cwd = choices.cwd;
  result.state = terminal::CommandState::FailedToStart;
  result.reason = "there are no terminals here: this host runs no commands";
  return result;
}

policy::Verdict NullPermissions::judge(const std::string& command, const std::string& /*cwd*/) {
  policy::Verdict verdict;
  verdict.decision = policy::Decision::Deny;
  verdict.rule = "no permission service";
  verdict.commands = {command};
  verdict.reasons.push_back(
      {"there is nobody here who could permit it", {}, policy::Risk::Low, policy::Decision::Deny});
  return verdict;
}

terminal::CommandResult run_if_permitted(const std::string& command, TerminalService& terminals,
                                         PermissionService& permissions, const RunChoices& choices) {
  const policy::Verdict verdict = permissions.judge(command, choices.cwd);
  terminal::CommandResult result;
  if (verdict.decision == policy::Decision::Allow) {
    result = terminals.run(command, choices);
  } else {
    result.command = command;
    result.cwd = choices.cwd;
    result.state = terminal::CommandState::Denied;
    result.reason = policy::summary_of(verdict);
  }
  result.verdict_json = policy::to_json(verdict);
  return result;
}

}  // namespace ttyward
