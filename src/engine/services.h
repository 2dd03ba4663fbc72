// What a host offers to whoever runs commands in it: terminals, and somebody who permits. Each in a real form
// and in one that does nothing, for tests and for hosts that have neither.
//
//   ttyward::LocalTerminals terminals;
//   ttyward::PolicyPermissions permissions;
//   const auto result = ttyward::run_if_permitted("make test", terminals, permissions);
//
// Thread rule: LocalTerminals and the null forms may be called from several threads; PolicyPermissions too.
#pragma once

#include <string>

#include "command/run.h"
#include "policy/evaluate.h"

namespace ttyward {

class TerminalService {
 public:
  virtual ~TerminalService() = default;
  virtual bool available() const = 0;
  // Waits for its end. What could not be started is a result with the state FailedToStart and the reason.
  virtual terminal::CommandResult run(const std::string& command, const RunChoices& choices) = 0;
};

class PermissionService {
 public:
  virtual ~PermissionService() = default;
  virtual bool available() const = 0;
  virtual policy::Verdict judge(const std::string& command, const std::string& cwd) = 0;
};

// Terminals of this process: ttyward::run.
class LocalTerminals final : public TerminalService {
 public:
  bool available() const override { return true; }
  terminal::CommandResult run(const std::string& command, const RunChoices& choices) override;
};

// The policy, by rules and a mode. `workspace` is what may be worked on; empty: the folder a command runs in.
class PolicyPermissions final : public PermissionService {
 public:
  explicit PolicyPermissions(policy::RuleSet rules = {}, policy::Settings settings = {},
                             std::string workspace = {})
      : rules_(std::move(rules)), settings_(settings), workspace_(std::move(workspace)) {}
  bool available() const override { return true; }
  policy::Verdict judge(const std::string& command, const std::string& cwd) override;

 private:
  const policy::RuleSet rules_;
  const policy::Settings settings_;
  const std::string workspace_;
};

// Runs nothing, and says so.
class NullTerminals final : public TerminalService {
 public:
  bool available() const override { return false; }
  terminal::CommandResult run(const std::string& command, const RunChoices& choices) override;
};

// Permits nothing: there is nobody to ask.
class NullPermissions final : public PermissionService {
 public:
  bool available() const override { return false; }
  policy::Verdict judge(const std::string& command, const std::string& cwd) override;
};

// What is not allowed is not run: the result has the state Denied, the reason and the verdict. A question
// counts as a no here; ask a person before, and let `permissions` know the answer.
terminal::CommandResult run_if_permitted(const std::string& command, TerminalService& terminals,
                                         PermissionService& permissions, const RunChoices& choices = {});

}  // namespace ttyward
