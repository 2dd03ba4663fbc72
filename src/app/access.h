// Who may do what with which terminal. Pure.
//
//   person   everything
//   viewer   reads: all, if it is certain to be a person's; else what an agent of its session reads
//   agent    acts on terminals of its own session (or of every agent, where the setting says so), and on
//            those a person lent it
#pragma once

#include <string>

#include "app/caller.h"
#include "engine/terminal.h"

namespace ttyward::app {

enum class Use : uint8_t { Read, Act };
enum class AgentTerminals : uint8_t { Session, All };  // which of the agents' terminals an agent may use

bool may_use(const Caller& caller, const engine::Terminal& terminal, Use use, AgentTerminals which);
// What to tell who may not, and what to do about it.
std::string no_access(const engine::Terminal& terminal, Use use);

}  // namespace ttyward::app
