#include "engine/policy_settings.h"

#include <algorithm>
#include <filesystem>

namespace ttyward::engine {

policy::Mode mode_of(config::PolicyMode mode) {
  switch (mode) {
    case config::PolicyMode::Plan:
      return policy::Mode::Plan;
    case config::PolicyMode::Default:
      return policy::Mode::Default;
    case config::PolicyMode::AutoEdit:
      return policy::Mode::AutoEdit;
    case config::PolicyMode::Yolo:
      return policy::Mode::Yolo;
  }
  return policy::Mode::Plan;
}

JudgeSettings judge_settings(const config::PolicySettings& from, std::string home) {
  JudgeSettings settings;
  settings.agent.mode = mode_of(from.mode);
  settings.agent.auto_approve_safe = from.auto_approve_safe_commands;
  settings.agent.confirm_dangerous = from.confirm_dangerous_commands;
  settings.home = std::move(home);
  return settings;
}

std::string outside_roots(const std::vector<std::string>& roots, const std::string& cwd) {
  if (roots.empty()) return {};
  std::error_code wrong;
  // What counts is where it would work.
  const std::filesystem::path real = std::filesystem::weakly_canonical(cwd, wrong);
  std::string all;
  for (const std::string& root : roots) {
    const std::filesystem::path base = std::filesystem::weakly_canonical(root, wrong);
    const auto [end, rest] = std::mismatch(base.begin(), base.end(), real.begin(), real.end());
    if (end == base.end() || end->empty()) return {};
    all += (all.empty() ? "" : ", ") + root;
  }
  return cwd + " is outside the folders agents may work in: give a cwd in " + all;
}

}  // namespace ttyward::engine
