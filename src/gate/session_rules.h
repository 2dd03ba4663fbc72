// What holds for one session only: its mode, and rules a person made by answering "always".
//
// Thread rule: one thread.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "policy/evaluate.h"
#include "policy/rules.h"

namespace ttyward::gate {

struct SessionRule {
  policy::Rule rule;
  std::string text;  // as it would stand in a rule file; what the store keeps
};

class SessionRules {
 public:
  // The same rule twice is one rule. Fails if `text` is no rule file.
  base::Result<void> add(const std::string& session, const std::string& text);
  const std::vector<SessionRule>& of(const std::string& session) const;
  // The texts of the rules of that name, which are gone now.
  std::vector<std::string> remove(const std::string& session, std::string_view name);

  std::optional<policy::Mode> mode(const std::string& session) const;
  void set_mode(const std::string& session, policy::Mode mode) { sessions_[session].mode = mode; }

 private:
  struct Session {
    std::vector<SessionRule> rules;
    std::optional<policy::Mode> mode;
  };
  std::map<std::string, Session> sessions_;
};

}  // namespace ttyward::gate
