// The one place where the gate is asked: run, exec, batch, open and input all come here.
//
// It knows how a request to the gate is made of a call, what a project's file makes stricter, and which
// commands wait for a person. Thread rule: the loop's thread.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "app/core.h"
#include "app/reply.h"
#include "gate/gate.h"
#include "store/rows.h"
#include "terminal/result.h"
#include "wire/types/objects.h"

namespace ttyward::app {

// A command that waits for a person, or was refused: no terminal knows it.
struct PendingCommand {
  terminal::CommandResult facts;
  std::string session;
};

class Gatekeeper {
 public:
  using Decided = std::function<void(const gate::GateDecision&)>;
  // `refused` keeps the row of a command that was not allowed to run.
  Gatekeeper(Core& core, std::function<void(store::CommandRow)> refused)
      : core_(core), keep_(std::move(refused)) {}

  gate::GateRequest request(const Caller& caller, std::string command, std::string cwd,
                            std::string command_id = {}) const;
  // Whether a command of the caller's that starts in `cwd` can have a sandbox of its own.
  policy::Confinable confinable(const Caller& caller, const std::string& cwd) const;
  // Why an agent may not work in `cwd`; empty: it may.
  std::optional<wire::CallError> outside_roots(const Caller& caller, const std::string& cwd) const;

  // `decided` is called once: now, or when a person has answered. What is returned says which.
  gate::GateDecision ask(gate::GateRequest request, const Decided& decided);

  // As `ask`, for a command whose call is answered with its result: `go` runs it, with the verdict.
  // If it is refused the call is answered; if a person is asked, after `yield_after` (0: never).
  void ask_for_command(const Caller& caller, gate::GateRequest request, std::chrono::milliseconds yield_after,
                       const Reply<wire::CommandResult>& reply,
                       const std::function<void(const policy::Verdict& verdict)>& go);
  // The result of a command that was not allowed to run.
  static terminal::CommandResult refused_result(terminal::CommandResult facts,
                                                const gate::GateDecision& decision);

  // Answers a call about such a command. If it waits for a person, its client may leave: the question stays.
  void answer(const PendingCommand& command, const Reply<wire::CommandResult>& reply);
  // A command that was allowed cannot be started. If nobody waits for its call any more, `find` tells why.
  void cannot_start(terminal::CommandResult facts, const std::string& session, const wire::CallError& error,
                    const Reply<wire::CommandResult>& reply);
  // Null: no such command waits or was refused.
  const PendingCommand* find(const std::string& command_id) const;
  // Called when the question is over, after the command it was about was started or refused.
  void when_answered(const std::string& approval, std::function<void()> callback);

 private:
  // The policy that holds for agents in `cwd`: the person's, with what a project there makes stricter.
  config::PolicySettings policy_at(const std::string& cwd, config::PolicyMode mode) const;
  void tighten_for_project(gate::GateRequest& request) const;
  void remember_refused(const terminal::CommandResult& refused, const std::string& session);

  Core& core_;
  const std::function<void(store::CommandRow)> keep_;
  std::map<std::string, PendingCommand> pending_;  // by command id
  std::vector<std::string> refused_order_;         // ids of those that were refused, oldest first
  std::map<std::string, std::vector<std::function<void()>>> waiters_;  // by approval id
};

}  // namespace ttyward::app
