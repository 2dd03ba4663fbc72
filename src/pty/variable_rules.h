// What is known about environment variables by their names.
#pragma once

#include <string>
#include <string_view>

namespace ttyward::pty {

// Passes from our environment to a command's without being asked for.
bool is_allowed_by_default(std::string_view name);

// The same, because tools do not work as their owner is used to without it: proxies, JAVA_HOME, a virtual
// environment. None of them makes a program load code that its PATH would not.
bool is_needed_by_tools(std::string_view name);

// Lets its holder act as the person elsewhere: for commands of the person, never for those of an agent.
bool is_for_the_person(std::string_view name);

// What a command has even where nothing is inherited.
bool is_always_there(std::string_view name);

// Says which terminal we ourselves run in. Programs believe it and send what that
// terminal understands, or ours does not.
bool identifies_other_terminal(std::string_view name);

// Why a request may not set this variable; empty if it may.
std::string refusal_reason(std::string_view name, std::string_view value);

}  // namespace ttyward::pty
