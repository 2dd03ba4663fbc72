// The protocol's objects, made of the engine's and the store's.
#pragma once

#include <string>

#include "app/caller.h"
#include "engine/engine.h"
#include "gate/approval.h"
#include "store/rows.h"
#include "terminal/result.h"
#include "wire/types/objects.h"

namespace ttyward::app {

wire::CommandResult result_object(const terminal::CommandResult& result);
wire::Terminal terminal_object(engine::Engine& engine, engine::Terminal& terminal);
wire::Approval approval_object(const gate::Approval& approval);
wire::HistoryRow row_object(const store::CommandRow& row);
wire::DecisionRow row_object(const store::DecisionRow& row);
wire::Waiting waiting_object(const terminal::WaitingFor& waiting);
wire::Omitted omitted_object(const terminal::Omitted& omitted);

// What a command's facts say by themselves; of one that runs in a terminal there is more.
store::CommandRow row_of(const terminal::CommandResult& facts);
store::CommandRow row_of(const engine::Terminal& terminal, const engine::Command& command);
store::Owner row_owner(engine::Owner owner);

// Whose doing a call is.
engine::Owner owner_of(const Caller& caller);
// The session of terminals it opens: an agent's own; a person's terminals have none.
std::string own_session(const Caller& caller);

}  // namespace ttyward::app
