// Finding the terminal that a call is about, if the caller may use it.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include <tl/expected.hpp>

#include "app/core.h"
#include "wire/types/call_error.h"

namespace ttyward::app {

template <class T>
using Outcome = tl::expected<T, wire::CallError>;

struct FoundTerminal {
  engine::Terminal* terminal = nullptr;
  engine::Command* command = nullptr;  // where one was named
};

// Names the terminal a person attached to last.
inline constexpr std::string_view kActiveTerminal = "@active";

// By the terminal's id or name, or as the active one, or by the id of a command in it.
Outcome<FoundTerminal> find_terminal(const Core& core, const Caller& caller, Use use,
                                     const std::string& terminal, const std::string& command = {});
// Why this caller may not use it; empty: it may.
std::optional<wire::CallError> refusal(const Core& core, const Caller& caller,
                                       const engine::Terminal& terminal, Use use);
// A person has the keyboard, and who calls is an agent.
std::optional<wire::CallError> held(const Caller& caller, const engine::Terminal& terminal);
// As find_terminal, for what an agent must not do while a person has the keyboard.
Outcome<FoundTerminal> find_free_terminal(const Core& core, const Caller& caller, const std::string& terminal,
                                          const std::string& command = {});
// Of a command that belongs to another agent.
wire::CallError not_yours(const std::string& command_id);

}  // namespace ttyward::app
