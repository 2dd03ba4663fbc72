// What an agent types must reach a program that reads it, never the shell behind that program: what a shell
// is given runs, and what runs passes the gate. Pure.
#pragma once

#include <optional>
#include <string_view>

#include "base/result.h"
#include "engine/terminal.h"
#include "pty/run_state.h"

namespace ttyward::engine {

// After any of these a program that reads a line may be gone: ends of line and of file, interrupt, quit,
// suspend. What follows would be the shell's.
inline constexpr std::string_view kEndsReading = "\r\n\x03\x04\x1a\x1c";

// Why `bytes` may not be typed while the kernel says `state`; nothing: they may. Unavailable: not yet.
std::optional<base::Error> refuse_agent_input(const Terminal& terminal,
                                              const base::Result<pty::RunState>& state,
                                              std::string_view bytes);

}  // namespace ttyward::engine
