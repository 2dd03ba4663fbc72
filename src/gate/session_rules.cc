#include "gate/session_rules.h"

#include <algorithm>

namespace ttyward::gate {

base::Result<void> SessionRules::add(const std::string& session, const std::string& text) {
  auto rules = policy::parse_rules(text, policy::RuleLevel::Session, "session rule", "/nowhere");
  if (!rules) return tl::unexpected(rules.error());
  std::vector<SessionRule>& known = sessions_[session].rules;
  for (policy::Rule& rule : *rules) {
    std::string own = policy::to_toml(rule);
    const bool there =
        std::any_of(known.begin(), known.end(), [&](const SessionRule& other) { return other.text == own; });
    if (!there) known.push_back({std::move(rule), std::move(own)});
  }
  return {};
}

const std::vector<SessionRule>& SessionRules::of(const std::string& session) const {
  static const std::vector<SessionRule> kNone;
  const auto found = sessions_.find(session);
  return found == sessions_.end() ? kNone : found->second.rules;
}

std::vector<std::string> SessionRules::remove(const std::string& session, std::string_view name) {
  std::vector<std::string> texts;
  const auto found = sessions_.find(session);
  if (found == sessions_.end()) return texts;
  std::erase_if(found->second.rules, [&](const SessionRule& rule) {
    if (rule.rule.name != name) return false;
    texts.push_back(rule.text);
    return true;
  });
  return texts;
}

std::optional<policy::Mode> SessionRules::mode(const std::string& session) const {
  const auto found = sessions_.find(session);
  return found == sessions_.end() ? std::nullopt : found->second.mode;
}

}  // namespace ttyward::gate
