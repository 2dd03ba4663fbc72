// The records of a terminal's log that more than one place has to understand: what is
// written here is read by replay(). docs/protocol says what each field means.
#pragma once

#include <cstdint>

#include <boost/json/object.hpp>

#include "engine/terminal_model.h"

namespace ttyward::engine {

// What is known while the shell waits for a command. A log may begin here.
boost::json::object prompt_record(const TerminalModel& model);
// Before a command is typed. `input`: what the holder had been given before.
boost::json::object submit_record(const Command& command, const TerminalModel& model, uint64_t input);
// It is over.
boost::json::object finish_record(const Command& command, uint64_t at, uint64_t nonces);

}  // namespace ttyward::engine
