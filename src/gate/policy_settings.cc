#include "gate/policy_settings.h"

namespace ttyward::gate {

policy::Mode mode_of(config::PolicyMode mode) {
  switch (mode) {
    case config::PolicyMode::Plan:
      return policy::Mode::Plan;
    case config::PolicyMode::Default:
      return policy::Mode::Default;
    case config::PolicyMode::AutoEdit:
      return policy::Mode::AutoEdit;
    case config::PolicyMode::Auto:
      return policy::Mode::Auto;
    case config::PolicyMode::Yolo:
      return policy::Mode::Yolo;
  }
  return policy::Mode::Plan;
}

std::vector<std::string> own_folders(const base::Folders& folders) {
  std::vector<std::string> out = {folders.state};
  if (!folders.runtime.empty()) out.push_back(folders.runtime);
  return out;
}

JudgeSettings judge_settings(const config::PolicySettings& from, std::string home) {
  JudgeSettings settings;
  settings.agent.mode = mode_of(from.mode);
  settings.agent.auto_approve_safe = from.auto_approve_safe_commands;
  settings.agent.confirm_dangerous = from.confirm_dangerous_commands;
  settings.home = std::move(home);
  settings.own_folders = own_folders(base::user_folders());
  settings.allowed_roots = from.allowed_roots;
  settings.confine = from.confine;
  return settings;
}

}  // namespace ttyward::gate
