#include "engine/agent_input.h"

namespace ttyward::engine {

using base::Error;
using base::ErrorCode;

std::optional<Error> refuse_agent_input(const Terminal& terminal, const base::Result<pty::RunState>& state,
                                        std::string_view bytes) {
  if (terminal.spec().temporary()) return std::nullopt;  // there is no shell behind it
  const auto refuse = [](ErrorCode code, const std::string& why) {
    return std::optional<Error>(base::fail(code, why).value());
  };
  if (!terminal.busy()) {
    return refuse(
        ErrorCode::PermissionDenied,
        "terminal " + terminal.id() +
            " is at its shell prompt: run commands with exec (run_persistent_command), input is for "
            "programs that ask");
  }
  if (!state) return state.error();
  // Whoever polls the terminal or set it to raw mode reads it, though perhaps not at this very moment.
  const bool raw =
      state->terminal && !state->terminal->canonical && state->terminal->foreground != terminal.shell_pid();
  if (!state->waiting && (state->listened || raw)) return std::nullopt;
  if (!state->waiting) {
    return refuse(ErrorCode::Unavailable,
                  "no program in " + terminal.id() +
                      " reads the terminal now, so the shell would get this; wait until it asks (wait with "
                      "input)");
  }
  const bool by_line =
      state->waiting->kind == pty::WaitKind::Line || state->waiting->kind == pty::WaitKind::Password;
  const size_t line_end = bytes.find_first_of(kEndsReading);
  if (by_line && line_end != std::string_view::npos && line_end + 1 < bytes.size()) {
    return refuse(ErrorCode::InvalidArgument,
                  state->waiting->program + " reads one line; send one at a time, each when it asks");
  }
  return std::nullopt;
}

}  // namespace ttyward::engine
