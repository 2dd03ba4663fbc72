// The service for agents that a front end serves: which there are, and what they tell of their own commands.
//
// Thread rule: the loop's thread.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "app/core.h"
#include "app/history.h"
#include "wire/types/daemon_calls.h"
#include "wire/types/policy_calls.h"

namespace ttyward::app {

class Agents {
 public:
  Agents(Core& core, History& history) : core_(core), history_(history) {}

  wire::Nothing agent(const Caller& caller, const wire::AgentRequest& request);
  base::Result<wire::ToldCommand> told(const Caller& caller, const wire::ToldRequest& request);

  void connection_closed(uint64_t connection) { served_.erase(connection); }
  std::vector<wire::ServedAgent> list() const;

 private:
  Core& core_;
  History& history_;
  std::map<uint64_t, wire::ServedAgent> served_;  // by connection
};

}  // namespace ttyward::app
