// The protocol's objects, made of the engine's.
#pragma once

#include <string>

#include <boost/json/object.hpp>

#include "daemon/caller.h"
#include "engine/engine.h"
#include "store/rows.h"
#include "terminal/result.h"

namespace ttyward::daemon {

boost::json::object result_object(const terminal::CommandResult& result);
boost::json::object terminal_object(engine::Engine& engine, engine::Terminal& terminal);
// Whose doing a call is.
engine::Owner owner_of(const Caller& caller);
// The session of terminals it opens: an agent's own; a person's terminals have none.
std::string own_session(const Caller& caller);
// JSON text of our own making.
boost::json::object parsed(const std::string& text);
boost::json::object row_object(const store::CommandRow& row);
boost::json::object row_object(const store::DecisionRow& row);
// What a command's facts say by themselves; of one that runs in a terminal there is more.
store::CommandRow row_of(const terminal::CommandResult& facts);
store::CommandRow row_of(const engine::Terminal& terminal, const engine::Command& command);
store::Owner row_owner(engine::Owner owner);

// The text, or null if there is none.
boost::json::value text_or_null(const std::string& text);

}  // namespace ttyward::daemon
